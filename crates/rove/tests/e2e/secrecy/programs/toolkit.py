"""Asks with prompt_toolkit. Each argument is a prompt; a ! before it makes it that of a password."""

import os
import sys

from prompt_toolkit import prompt

for text in sys.argv[1:]:
    last = prompt(text.lstrip("!"), is_password=text.startswith("!"))
with open(os.environ["OUT"], "w") as out:
    out.write(last)

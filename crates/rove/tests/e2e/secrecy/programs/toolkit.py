"""Asks with prompt_toolkit. Each argument is a prompt; a ! before it makes it that of a password.

With "session" first, all are asked for by one session; with "window", each in a dialog on the whole screen.
"""

import os
import sys

from prompt_toolkit import PromptSession, prompt
from prompt_toolkit.shortcuts import input_dialog

how, texts = sys.argv[1], sys.argv[2:]
session = PromptSession()
for number, text in enumerate(texts, 1):
    hidden, text = text.startswith("!"), text.lstrip("!")
    if how == "window":
        last = input_dialog(title="part %d" % number, text=text, password=hidden).run()
    elif how == "session":
        last = session.prompt(text, is_password=hidden)
    else:
        last = prompt(text, is_password=hidden)
with open(os.environ["OUT"], "w") as out:
    out.write(last)

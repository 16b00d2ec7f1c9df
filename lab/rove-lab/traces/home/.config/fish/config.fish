set -g fish_greeting
function fish_prompt
    set_color green; printf 'user@host'; set_color normal; printf ' %s> ' (prompt_pwd)
end
function fish_right_prompt
    set_color brblack; printf 'main'; set_color normal
end

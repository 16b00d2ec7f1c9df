PROMPT='user@host %1~ $ '
RPROMPT='%F{yellow}[%?] %1~%f'
HISTFILE=~/.zsh_history
HISTSIZE=100
unsetopt beep
autoload -Uz compinit && compinit -u -d ~/.zcompdump
source /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh

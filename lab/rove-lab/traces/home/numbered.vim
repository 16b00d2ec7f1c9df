set nocompatible number ruler showmode autoindent backspace=indent,eol,start
set viminfo= noswapfile ttimeoutlen=20
syntax off

set nocompatible number relativenumber ruler showcmd showmode autoindent backspace=indent,eol,start
set viminfo= noswapfile ttimeoutlen=20
syntax off

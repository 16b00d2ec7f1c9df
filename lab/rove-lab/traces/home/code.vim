set nocompatible ruler showmode autoindent backspace=indent,eol,start
set viminfo= noswapfile ttimeoutlen=20
filetype plugin indent on
syntax on

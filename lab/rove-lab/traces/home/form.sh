# A form, an input box and a check list on the full screen.
dialog --title 'New plant' --form 'What is planted?' 14 60 5 \
  'Name:' 1 2 'apple tree' 1 16 30 60 \
  'Place:' 2 2 '' 2 16 30 30 \
  'Date:' 3 2 '2024-05-10' 3 16 12 12 \
  'Remark:' 4 2 '' 4 16 20 80 2>answer
whiptail --title 'Another' --inputbox 'What else?' 9 50 'bean' 2>>answer
dialog --checklist 'Which tools?' 12 50 4 1 spade off 2 rake on 3 shears off 2>>answer
clear

# Asks for secrets in the ways that programs do.
read -p 'Login: ' login
read -s -p "Password for $login: " secret
echo
echo "${#secret} characters"
python3 -c 'import getpass; print(len(getpass.getpass("Passphrase: ")), "characters")'

/* ssh for the tests under Wine: sends its arguments to the test, which runs this computer's ssh with them, and shows the
   answer. That is pieces of a stream's number, a length and so many bytes; for stream 0, the length is the exit code. */
#include <winsock2.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

/* Arguments stay as they are. */
int _dowildcard = 0;

static int take(SOCKET test, char *bytes, int len)
{
    for (int have = 0; have < len;) {
        int more = recv(test, bytes + have, len - have, 0);
        if (more <= 0)
            return 0;
        have += more;
    }
    return 1;
}

int main(int argc, char **argv)
{
    WSADATA data;
    struct sockaddr_in address = { .sin_family = AF_INET };
    const char *port = getenv("ROVE_TEST_SSH");
    if (!port || WSAStartup(MAKEWORD(2, 2), &data))
        return 255;
    SOCKET test = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_port = htons((u_short)atoi(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(test, (struct sockaddr *)&address, sizeof address))
        return 255;
    for (int i = 1; i < argc; i++)
        send(test, argv[i], (int)strlen(argv[i]) + 1, 0);
    shutdown(test, SD_SEND);
    _setmode(1, _O_BINARY);
    _setmode(2, _O_BINARY);
    unsigned char head[2];
    char bytes[255];
    while (take(test, (char *)head, 2)) {
        if (head[0] == 0)
            return head[1];
        if (!take(test, bytes, head[1]))
            break;
        _write(head[0], bytes, head[1]);
    }
    return 255;
}

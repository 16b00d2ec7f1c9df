//! OCB3 (RFC 7253) over AES-128: 128-bit tag, 96-bit nonce.

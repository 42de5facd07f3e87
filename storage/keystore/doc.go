// Package keystore keeps provider keys in the operating system's keyring or,
// without a keyring, in a file that only its owner can read. It implements
// [backend.KeyStore].
//
// Keys are read only when a page needs them, because a keyring may start programs.
package keystore

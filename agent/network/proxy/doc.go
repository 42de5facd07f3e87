// Package proxy is the way out of a sandbox: a proxy that reaches the hosts that
// rules allow, and no other. One port or socket answers CONNECT and plain
// requests of HTTP, and the CONNECT command of SOCKS5. It looks up names itself,
// so that a command behind it needs no DNS and cannot send data with it.
//
// What is sent through it is not read: a host behind an allowed name may pass
// data on to others. It writes no log.
//
// A proxy serves one command, remembers what it refused, and refuses all at once where no host is
// allowed, so that programs fail in a moment and name the host. On macOS, where it listens on a
// port that others reach, it asks for a secret.
package proxy

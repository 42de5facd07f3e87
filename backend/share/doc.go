// Package share lets people watch one session in a browser, read-only, while it happens.
//
// A share has a listener of its own, on loopback unless the user chose the network or a
// tunnel. Its link carries a token of 32 random bytes in the fragment, which no server and
// no log sees; only the hash is kept. A viewer trades the token, and a password if there is
// one, for the key of the stream. Nothing else is served: no method, no other session.
//
// One goroutine owns a share. It takes events from a queue that never waits, takes secrets
// out of every string, renders HTML, and puts it on a board. Viewers have no queues: each
// has a place on the board, reads on from there, and reads again from the start when it
// fell too far behind. A slow viewer costs nobody anything. What is still being streamed is
// shown up to the last word that cannot become a secret any more.
//
// The end of a share, by the user, its time, its tunnel or the program, closes the listener
// and every stream at once. Shares live in memory: none outlives the program.
package share

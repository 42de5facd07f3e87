// Package serve shows the application to a browser: the same front end and the
// same calls as the window, over one WebSocket on a loopback address.
//
// The files of the front end are public; everything else needs a secret. The
// printed address carries a one-time token in its fragment, the part of an
// address that browsers do not send. The page exchanges the token for the
// secret, keeps the secret in the storage of its own origin and sends it as the
// first message on its WebSocket. The secret is not a cookie, because browsers
// send a cookie to every port of a host, so that any other server on this
// machine would get it.
//
// Host and Origin are checked. Either side asks for a sign of life, so that a connection that died
// without being closed is made anew; 64 pages are served at a time, and connections that have not
// sent the secret are counted apart (16, the oldest gives way). Calls that must not run twice carry
// a key (once.go) and are sent again. Headers that confine the page, and the frame in which
// diagrams are drawn, are in harden.go.
package serve

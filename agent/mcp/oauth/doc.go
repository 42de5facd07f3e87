// Package oauth authorises Atelier at servers of the Model Context Protocol: the
// user consents in a browser, and requests then carry a token that is renewed by
// itself. It is OAuth 2.1 as the protocol wants it, in all its versions: discovery,
// PKCE, dynamic registration and metadata documents of clients, resource
// indicators, more scopes when a server asks for them, the check of the issuer, and
// tokens that are bound to a key.
//
// Whatever a server or an authorisation server tells us is untrusted: addresses are
// checked when they are read and again when they are dialled, documents are bounded, and
// a token goes to the origin of its own server only. No error and no log has a
// secret.
//
// The token endpoint is asked by code of this package and not by golang.org/x/oauth2,
// which cannot name the resource when it refreshes a token, authenticate with a key, bind
// a token to one (DPoP), or take a clock; reads an answer of JSON as a form if it is
// labelled text/plain; and refuses a token whose expiry is no whole number. The tests of
// token answers and of the conformance suite hold all of these.
//
// A round tripper adds the token to requests for the server's own origin and to no other, and fails
// with [NeedsUser] when a person is needed. The browser comes back to a port of this computer that
// lives as long as the flow: it takes one answer, which must have the flow's state and, if there is
// one, the name of the authorisation server. Tokens and the registration are one text in the
// keyring, under a name that follows from the server's address and client.
//
// A token is renewed once for all requests that wait for it, by one goroutine that outlives them. A
// process that finds its refresh token used takes the newer one from the keyring. What a server
// asks for beyond that is added to what was granted; a server that asks for what it has is refused.
// Requests with secrets follow no redirect.
package oauth

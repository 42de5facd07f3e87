package mcptest

import "net/http"

// behaviour is how a server differs from a good one.
type behaviour struct {
	start  func(t *talk)                                                // before it reads anything; over stdio only
	handle func(t *talk, r request) bool                                // it did all that is to be done about a request
	stay   bool                                                         // it does not end with its input
	serve  func(s *server, w http.ResponseWriter, r *http.Request) bool // the same as handle, for HTTP
}

var behaviours = map[string]behaviour{
	"good": {},
}

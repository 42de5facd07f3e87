package serve

import "net/http"

// policy is the content security policy of every answer but one: own scripts
// and styles only, nothing from elsewhere. Its frame-src 'self' allows exactly
// the document that draws diagrams, because every other answer refuses to be
// framed.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data:; " +
	"font-src 'self'; connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; object-src 'none'; " +
	"base-uri 'none'; form-action 'none'"

// The document that draws diagrams, and its script.
const (
	diagramPage   = "/diagram.html"
	diagramScript = "/diagram.js"
)

// diagramPolicy is the policy of the document that draws diagrams. Mermaid
// writes inline styles. The document has an opaque origin wherever it is shown,
// and it loads its script and nothing else. WebKit does not take the window's
// scheme for 'self' here, so the script is named in full.
const diagramPolicy = "default-src 'none'; script-src 'self' wails://wails" + diagramScript + "; style-src 'unsafe-inline'; " +
	"frame-ancestors 'self'; base-uri 'none'; form-action 'none'; sandbox allow-scripts"

// Harden adds the security headers of a page.
func Harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowed, readers := policy, "same-origin"
		switch r.URL.Path {
		case diagramPage:
			allowed = diagramPolicy
		case diagramScript:
			readers = "cross-origin" // an opaque origin is never the same
		}
		h := w.Header()
		h.Set("Content-Security-Policy", allowed)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", readers)
		next.ServeHTTP(w, r)
	})
}

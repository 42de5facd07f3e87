package serve

import (
	"io/fs"
	"net/http"
	"strings"
)

// Policy is the content security policy of every page: own scripts and styles
// only, no frames, nothing from elsewhere.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"font-src 'self'; connect-src 'self'; frame-src 'none'; frame-ancestors 'none'; object-src 'none'; " +
	"base-uri 'none'; form-action 'none'"

// Harden adds the security headers of a page.
func Harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// file serves a file of the front end. The index is never cached: after an
// update it must name the new files.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := "index.html"
	if r.URL.Path == "/" {
		w.Header().Set("Cache-Control", "no-store")
	} else {
		name = strings.TrimPrefix(r.URL.Path, "/")
	}
	if info, err := fs.Stat(s.files, name); err != nil || !info.Mode().IsRegular() || strings.Contains("/"+name, "/.") {
		http.NotFound(w, r) // directories are not listed
		return
	}
	s.assets.ServeHTTP(w, r)
}

package serve

import (
	"io/fs"
	"net/http"
	"strings"
)

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

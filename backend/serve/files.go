package serve

import (
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// packed is the suffix of files that are stored compressed with gzip. Under
// the name without it they are read decompressed.
const packed = ".gz"

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
	if _, err := fs.Stat(s.files, name+packed); err == nil {
		s.packedFile(w, r, name)
		return
	}
	s.assets.ServeHTTP(w, r)
}

// packedFile serves a file that is stored compressed: as it is stored if the
// browser reads that, as every browser does.
func (s *Server) packedFile(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		name += packed
	}
	if err := s.send(w, name); err != nil {
		slog.Debug("could not send a file of the page", "file", name, "error", err)
	}
}

// send writes a file with its length.
func (s *Server) send(w http.ResponseWriter, name string) error {
	file, err := s.files.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	_, err = io.Copy(w, file)
	return err
}

// acceptsGzip reads the header Accept-Encoding.
func acceptsGzip(accepted string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

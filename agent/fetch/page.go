package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"atelier.dev/atelier/agent/internal/pdftext"
	"atelier.dev/atelier/internal/text"
)

// maxKept limits the text that is kept of a page, in characters, and maxTitle its title.
const (
	maxKept  = 1_000_000
	maxTitle = 300
)

// cut says why a page is not whole.
type cut int

const (
	complete  cut = iota
	cutShort      // it is larger than the limit
	cutBroken     // the connection ended before the page did
)

// page is what was fetched, as text.
type page struct {
	url      string // where it is in the end
	status   int
	kind     string // the media type
	title    string
	text     string
	links    []Link
	redirect string
	bytes    int
	cut      cut
}

// read makes the text of a body. An error is a phrase for the model.
func (p *page) read(ctx context.Context, contentType string, body []byte) error {
	kind, _, unread := mime.ParseMediaType(contentType)
	if unread != nil || kind == "application/octet-stream" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	p.kind, p.bytes = kind, len(body)
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		at, err := url.Parse(p.url)
		if err != nil {
			return err
		}
		p.title, p.text, p.links = readable(decoded(body, contentType), at)
	case pdftext.Is(body):
		found, err := pdftext.Read(ctx, body)
		if err != nil && p.cut != complete {
			err = fmt.Errorf("it has more than the %d MB that are fetched", len(body)>>20)
		}
		if err != nil {
			return fmt.Errorf("it is a PDF that cannot be read: %w", err)
		}
		p.text = found.String()
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		p.text = indented(body)
	case strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "xml") || strings.HasSuffix(kind, "javascript") || kind == "application/yaml":
		p.text = decoded(body, contentType)
	case utf8.Valid(body) && !bytes.ContainsRune(body, 0):
		p.text = string(body)
	default:
		return fmt.Errorf("it is %s of %d bytes, which has no text; fetch it with a command if the file is needed", kind, len(body))
	}
	p.text = strings.ToValidUTF8(strings.ReplaceAll(p.text, "\x00", ""), "\uFFFD")
	p.title = text.Characters(strings.Join(strings.Fields(p.title), " "), maxTitle)
	if kept := text.Characters(p.text, maxKept); len(kept) < len(p.text) {
		p.text, p.cut = kept, max(p.cut, cutShort)
	}
	switch p.cut {
	case cutShort:
		p.text += "\n\n[The page is longer than is read; this is its beginning.]\n"
	case cutBroken:
		p.text += "\n\n[The connection ended before the page did; this is its beginning.]\n"
	}
	if strings.TrimSpace(p.text) == "" {
		p.text = "[The page has no text. It may be made by a script in a browser, or need an account.]\n"
	}
	return nil
}

// decoded returns a body as UTF-8: by what it is declared to be, unless nothing is
// declared and it is valid UTF-8.
func decoded(body []byte, contentType string) string {
	encoding, _, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	if !certain && utf8.Valid(body) {
		return string(body)
	}
	if text, err := encoding.NewDecoder().Bytes(body); err == nil {
		return strings.TrimPrefix(string(text), "\uFEFF")
	}
	return string(body)
}

// indented returns JSON with a line for each value; other text as it is.
func indented(body []byte) string {
	var out bytes.Buffer
	if len(body) < maxPage/4 && json.Indent(&out, body, "", "  ") == nil {
		return out.String()
	}
	return string(body)
}

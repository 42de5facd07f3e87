// Package reader has the page that shows a session to people who do not run Atelier: the
// viewers of a live share, and whoever opens a recording.
//
// A recording is one HTML file with that page, its style and a session, compressed and then
// encrypted with AES-GCM. It needs no network. The key is not in the file: it stands in the
// fragment of the address, which a browser sends nobody, or is typed in.
package reader

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"iter"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/transcript/export"
)

//go:embed page
var page embed.FS

func file(name string) string {
	raw, err := page.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(raw)
}

// Page returns the page, which loads viewer.css and viewer.js from beside it.
func Page() string { return file("viewer.html") }

// Script returns the page's script.
func Script() string { return file("viewer.js") }

// Style returns the page's style sheet.
func Style() string { return export.Style() + file("viewer.css") }

// Dollars is a cost as the page shows it.
func Dollars(cost llm.Cost) string { return fmt.Sprintf("$%.4f", cost.Dollars()) }

// NewKey returns the key of a recording: 32 random bytes, as a fragment has them.
func NewKey() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// Recording is a session that is about to be recorded. Its texts are shown as they are: whoever
// makes it takes secrets out before.
type Recording struct {
	Title    string
	Language string // of the labels
	Costs    bool   // shows what the session cost
}

// maxRecorded limits the HTML of a recording, in bytes. Beyond it the beginning is left out.
const maxRecorded = 64 << 20

// content is what a recording encrypts.
type content struct {
	Title  string   `json:"title"`
	Cost   string   `json:"cost,omitempty"`
	Cut    bool     `json:"cut,omitempty"`
	Pieces []string `json:"pieces"`
}

// Write writes a session as a recording that the key opens.
func (r Recording) Write(w io.Writer, key string, events iter.Seq2[agent.Event, error]) error {
	secret, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(secret) != 32 {
		return fmt.Errorf("the key of a recording has 32 bytes in base64, not %d", len(secret))
	}
	all, err := r.content(events)
	if err != nil {
		return err
	}
	sealed, err := seal(all, secret)
	if err != nil {
		return fmt.Errorf("encrypt the recording: %w", err)
	}
	if _, err := io.WriteString(w, document(sealed)); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

// content renders the events. The end of a call takes the place of its start.
func (r Recording) content(events iter.Seq2[agent.Event, error]) (content, error) {
	all := content{Title: r.Title, Pieces: []string{}}
	stream := export.NewStream(r.Language)
	begun := map[string]int{} // places of calls that have not ended
	size := 0
	var cost llm.Cost
	for ev, err := range events {
		if err != nil {
			return content{}, err
		}
		added := stream.Add(ev)
		switch d := ev.Data.(type) {
		case agent.TextEnd:
			if d.Cost != nil {
				cost += *d.Cost
			}
		case agent.ToolCallStart:
			begun[d.CallID] = len(all.Pieces)
		case agent.ToolCallEnd:
			if at, ok := begun[d.CallID]; ok {
				delete(begun, d.CallID)
				size += len(added) - len(all.Pieces[at])
				all.Pieces[at] = added
				continue
			}
		}
		if added == "" {
			continue
		}
		all.Pieces, size = append(all.Pieces, added), size+len(added)
		if size > maxRecorded && len(all.Pieces) > 1 {
			half := len(all.Pieces) / 2
			for _, gone := range all.Pieces[:half] {
				size -= len(gone)
			}
			all.Pieces, all.Cut = append([]string{}, all.Pieces[half:]...), true
			clear(begun)
		}
	}
	if r.Costs {
		all.Cost = Dollars(cost)
	}
	return all, nil
}

// seal compresses and encrypts: 12 bytes of a nonce, and what AES-GCM makes.
func seal(all content, secret []byte) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zip).Encode(all); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return gcm.Seal(nil, nil, packed.Bytes(), nil), nil
}

// document is the page with everything in it. Its policy lets its own script and style run and
// nothing else: it can reach nobody.
func document(sealed []byte) string {
	script, style := Script(), Style()
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hashOf(script), hashOf(style))
	return strings.NewReplacer(
		`<meta charset="utf-8" />`, `<meta charset="utf-8" />`+"\n    "+`<meta http-equiv="Content-Security-Policy" content="`+html.EscapeString(policy)+`" />`,
		`<link rel="stylesheet" href="viewer.css" />`, "<style>"+style+"</style>",
		`<script src="viewer.js" defer></script>`, "",
		`</body>`, `<script type="application/octet-stream" id="recording">`+base64.StdEncoding.EncodeToString(sealed)+"</script>\n    <script>"+script+"</script>\n  </body>",
	).Replace(Page())
}

// hashOf names a script or a style in a policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

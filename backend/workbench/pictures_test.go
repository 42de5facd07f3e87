package workbench_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/attach"
	"atelier.dev/atelier/backend/conversation"
)

// LLM-22: Anthropic accepts pictures of up to 5 MB in their encoded form, other
// providers larger ones. A picture that is too large for one provider is made
// smaller for it only.
func TestPictureLimits(t *testing.T) {
	t.Parallel()
	picture := image.NewNRGBA(image.Rect(0, 0, 100, 100))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(picture.Pix)
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		t.Fatal(err)
	}
	// A note makes the file 4 MB large, and encoding it anew costs little.
	const head = 8 + 25 // the signature and the first chunk
	note := append([]byte("tEXt"), make([]byte, 4<<20)...)
	file := slices.Concat(encoded.Bytes()[:head],
		binary.BigEndian.AppendUint32(nil, uint32(len(note)-4)), note, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(note)),
		encoded.Bytes()[head:])
	for name, tt := range map[string]struct {
		provider, model string
		data            *regexp.Regexp
		kept            bool
	}{
		"Anthropic": {"anthropic", "claude-sonnet-5-5", regexp.MustCompile(`"data":"([^"]{1000,})"`), false},
		"OpenAI":    {"openai", "gpt-6.1-sol", regexp.MustCompile(`"data:image/png;base64,([^"]{1000,})"`), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path := filepath.Join(folder, "noise.png")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			read := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": path})}}
			server := llmtest.Serve(t, read, llmtest.Round{Text: "Seen."})
			env := map[string]string{
				"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.Root, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL,
			}
			p := newPage(t, folder, t.TempDir(), func(name string) string { return env[name] })
			ask(t, p, tt.provider, tt.model)
			sent := tt.data.FindSubmatch(server.Requests()[1].Body)
			if sent == nil {
				t.Fatalf("no picture was sent: %.2000s", server.Requests()[1].Body)
			}
			data, err := base64.StdEncoding.DecodeString(string(sent[1]))
			if err != nil {
				t.Fatal(err)
			}
			if kept := bytes.Equal(data, file); kept != tt.kept || !kept && len(sent[1]) > 5<<20 {
				t.Errorf("%d of %d bytes were sent, %d encoded", len(data), len(file), len(sent[1]))
			}
		})
	}
}

// OC-07: a pasted picture, and one of the project, goes with the message that mentions it, in
// each wire format.
func TestPicturesOfMessages(t *testing.T) {
	t.Parallel()
	for provider, tt := range map[string]struct{ model, prefix string }{
		"anthropic": {"claude-sonnet-5-5", `"data":"`},
		"openai":    {"gpt-6.1-sol", `data:image/png;base64,`},
		"gemini":    {"gemini-4-argon", `"data":"`},
		"compat":    {"some-model", `data:image/png;base64,`},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			pasted, own := dot(t, 3), dot(t, 4)
			if err := os.WriteFile(filepath.Join(folder, "own.png"), own, 0o600); err != nil {
				t.Fatal(err)
			}
			server := llmtest.Serve(t, llmtest.Round{Text: "Seen."})
			env := map[string]string{
				"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.Root, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL,
				"GEMINI_API_KEY": "k", "GEMINI_BASE_URL": server.Root, "COMPAT_BASE_URL": server.URL,
			}
			p := newPage(t, folder, t.TempDir(), func(name string) string { return env[name] })
			added := must[attach.Attached](p, "attach.add", attach.AttachRequest{Name: "shot of a screen.png", Data: pasted})
			if shown := must[attach.AttachedFile](p, "attach.read", attach.AttachedRequest{Path: added.Path}); shown.Picture == nil || !bytes.Equal(shown.Picture.Data, pasted) {
				t.Errorf("%+v is shown of %s", shown, added.Path)
			}
			info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
			must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
				Session: info.ID, Settings: agent.Settings{Provider: provider, Model: tt.model, Mode: agent.ModeDefault},
			})
			p.send(info.ID, "What is in "+added.Mention+" and @own.png?")
			begun := await(p, anyOf[agent.UserInput])
			await(p, anyOf[agent.ProcessingEnd])
			if len(begun.Media) != 2 || begun.Media[0].Name != added.Path || begun.Media[1].Name != "own.png" || begun.Media[0].Data != nil {
				t.Errorf("the page is shown %v", begun.Media)
			}
			body := server.Requests()[0].Body
			for name, picture := range map[string][]byte{"the pasted": pasted, "the project's": own} {
				if !bytes.Contains(body, []byte(tt.prefix+base64.StdEncoding.EncodeToString(picture))) {
					t.Errorf("%s picture is not sent: %.3000s", name, body)
				}
			}
		})
	}
}

// dot returns a small picture of a size of its own.
func dot(t *testing.T, edge int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, edge, edge))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

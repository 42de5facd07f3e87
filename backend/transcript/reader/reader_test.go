package reader_test

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/transcript/reader"
)

func logOf(all ...agent.Payload) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for i, p := range all {
			if !yield(agent.Event{Seq: int64(i + 1), Data: p}, nil) {
				return
			}
		}
	}
}

func said(text string, cost *llm.Cost) agent.TextEnd {
	return agent.TextEnd{Message: llm.Text(llm.RoleAssistant, text), Cost: cost}
}

var sealed = regexp.MustCompile(`id="recording">([^<]*)</script>`)

// open does what the page does.
func open(t *testing.T, document, key string) (out struct {
	Title, Cost string
	Cut         bool
	Pieces      []string
}, err error) {
	t.Helper()
	found := sealed.FindStringSubmatch(document)
	if found == nil {
		t.Fatalf("no recording in %.500s", document)
	}
	raw, _ := base64.StdEncoding.DecodeString(found[1])
	secret, _ := base64.RawURLEncoding.DecodeString(key)
	block, err := aes.NewCipher(secret)
	if err != nil {
		t.Fatal(err)
	}
	gcm, _ := cipher.NewGCM(block)
	packed, err := gcm.Open(nil, raw[:12], raw[12:], nil)
	if err != nil {
		return out, err
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(zip)
	return out, json.Unmarshal(text, &out)
}

// LIVE-08: a recording is one file without an address in it. Only its key opens it, and nothing
// of the session can be read in it.
func TestRecording(t *testing.T) {
	t.Parallel()
	cost := llm.Cost(llm.Dollar / 4)
	key := reader.NewKey()
	var file bytes.Buffer
	err := reader.Recording{Title: "Rivers", Costs: true}.Write(&file, key, logOf(
		agent.UserInput{Text: "Name a river."}, agent.ToolCallStart{CallID: "c", Tool: "Bash", Input: `{"command":"make"}`},
		agent.ToolCallEnd{CallID: "c", Tool: "Bash", Output: "built", Outcome: agent.OutcomeDone}, said("The **Rhine**.</script>", &cost),
	))
	if err != nil {
		t.Fatal(err)
	}
	document := file.String()
	for _, never := range []string{"Rivers", "Rhine", "make", key, "http:", "https:", `src=`, `href="viewer`} {
		if strings.Contains(document, never) {
			t.Errorf("the file has %q", never)
		}
	}
	if strings.Count(document, "</script>") != 2 || !strings.Contains(document, "script-src &#39;sha256-") {
		t.Errorf("the page is not whole: %.900s", document)
	}
	got, err := open(t, document, key)
	if err != nil || got.Title != "Rivers" || got.Cost != "$0.2500" || len(got.Pieces) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []string{"Name a river.", "built", "<strong>Rhine</strong>"} {
		if !strings.Contains(got.Pieces[i], want) {
			t.Errorf("piece %d is %q", i, got.Pieces[i])
		}
	}
	if _, err := open(t, document, reader.NewKey()); err == nil {
		t.Error("another key opened it")
	}
	if _, again := reader.NewKey(), reader.NewKey(); again == key {
		t.Error("keys repeat")
	}
}

// What cannot be recorded is an error, and a long session keeps its end.
func TestRecordingLimits(t *testing.T) {
	t.Parallel()
	if err := (reader.Recording{}).Write(io.Discard, "short", logOf()); err == nil {
		t.Error("a short key was taken")
	}
	broken := func(yield func(agent.Event, error) bool) { yield(agent.Event{}, errors.New("the log is torn")) }
	if err := (reader.Recording{}).Write(io.Discard, reader.NewKey(), broken); err == nil || !strings.Contains(err.Error(), "torn") {
		t.Errorf("a torn log: %v", err)
	}
	var all []agent.Payload
	for i := range 66 {
		all = append(all, said(fmt.Sprintf("answer-%d-", i)+strings.Repeat("x", 1<<20), nil))
	}
	key := reader.NewKey()
	var file bytes.Buffer
	if err := (reader.Recording{}).Write(&file, key, logOf(all...)); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, file.String(), key)
	if err != nil || !got.Cut || got.Cost != "" || !strings.Contains(got.Pieces[len(got.Pieces)-1], "answer-65-") || strings.Contains(got.Pieces[0], "answer-0-") {
		t.Errorf("%d pieces, cut: %t, %v", len(got.Pieces), got.Cut, err)
	}
}

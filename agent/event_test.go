package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"atelier.dev/atelier/agent"
	"github.com/google/go-cmp/cmp"
)

// LOOP-18: every kind has one payload, and every event survives its encoding.
func TestEventsSurviveEncoding(t *testing.T) {
	t.Parallel()
	seen := map[agent.Kind]bool{}
	for _, p := range agent.Payloads() {
		if seen[p.Kind()] {
			t.Errorf("%s has two payloads", p.Kind())
		}
		seen[p.Kind()] = true
		want := agent.Event{Session: "s", Seq: 7, Turn: 2, At: 99, Data: p}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got agent.Event
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", p.Kind(), diff)
		}
		if reflect.TypeOf(got.Data) != reflect.TypeOf(p) {
			t.Errorf("%s decodes to %T", p.Kind(), got.Data)
		}
	}
}

func TestUnknownKindIsAnError(t *testing.T) {
	t.Parallel()
	var ev agent.Event
	if err := json.Unmarshal([]byte(`{"session_id":"s","kind":"from_the_future","at":1,"data":{}}`), &ev); err == nil {
		t.Error("no error")
	}
}

func FuzzEvent(f *testing.F) {
	for _, p := range agent.Payloads() {
		b, err := json.Marshal(agent.Event{Session: "s", Seq: 1, At: 1, Data: p})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var ev agent.Event
		if json.Unmarshal(b, &ev) != nil {
			return
		}
		var transcript agent.Transcript
		transcript.Apply(ev) // must not panic
		if _, err := json.Marshal(ev); err != nil {
			t.Errorf("decoded but not encoded: %v", err)
		}
	})
}

// A payload without its line in the table would neither be stored nor read.
func TestEveryPayloadIsInTheTable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	method := regexp.MustCompile(`(?m)^func \((\w+)\) Kind\(\) Kind `)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllSubmatch(source, -1) {
			written = append(written, string(m[1]))
		}
	}
	var listed []string
	for _, p := range agent.Payloads() {
		listed = append(listed, reflect.TypeOf(p).Name())
	}
	slices.Sort(written)
	slices.Sort(listed)
	if diff := cmp.Diff(written, listed); diff != "" {
		t.Errorf("payloads and the table differ (-payloads +table):\n%s", diff)
	}
}

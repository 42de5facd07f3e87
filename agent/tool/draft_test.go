package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

// While a model writes a call, each piece shows what is known of the call, also
// in JSON, wherever it is cut.
func TestDraftsShowTheEffectOfACall(t *testing.T) {
	t.Parallel()
	b := newPatchBench(t, nil)
	text := patch("*** Add File: "+b.path("ä/a.txt"), "+one", "+two", "*** Update File: b.txt", "*** Move to: c.txt", "-x", "+\"\\\U0001F600")["input"].(string)
	patched := "ä/a.txt created +2 -0, b.txt > c.txt +1 -1"
	for _, tt := range []struct {
		tool     string
		freeform bool
		input    string
		want     string
	}{
		{"ApplyPatch", true, text, patched},
		{"ApplyPatch", false, string(args{"input": text}.json(t)), patched},
		{"ApplyPatch", false, text, ""},
		{"ApplyPatch", true, "*** Begin Patch\n*** Delete File: d\nmistake\n*** Add File: e\n", "d deleted +0 -0"},
		{"Write", false, `{"file_path":"` + b.path("w.txt") + `","content":"a\nb\nc"}`, "w.txt +3 -0"},
		{"Write", false, `{"file_path":"w.txt","content":""}`, "w.txt +0 -0"},
		{"Write", false, `{"file_path":"w.txt"}`, ""},
		{"Edit", false, `{"file_path":"e.txt","old_string":"a\nb\n","new_string":"c"}`, "e.txt +1 -2"},
	} {
		for size := 1; size < 8; size++ {
			follow := b.tools[tt.tool].(agent.Drafter).Draft(tt.freeform)
			var got agent.DraftedChanges
			for rest := tt.input; rest != ""; {
				n := min(size, len(rest))
				got = follow(rest[:n])
				rest = rest[n:]
			}
			if diff := cmp.Diff(tt.want, outlined(got)); diff != "" {
				t.Errorf("%s %s in pieces of %d (-want +got):\n%s", tt.tool, tt.input, size, diff)
			}
		}
	}
}

func outlined(o agent.DraftedChanges) string {
	var parts []string
	if o.Earlier > 0 {
		parts = append(parts, fmt.Sprintf("%d earlier", o.Earlier))
	}
	for _, c := range o.Changes {
		text := c.Path
		if c.MovedTo != "" {
			text += " > " + c.MovedTo
		}
		if c.Created {
			text += " created"
		}
		if c.Deleted {
			text += " deleted"
		}
		parts = append(parts, fmt.Sprintf("%s +%d -%d", text, c.Added, c.Removed))
	}
	return strings.Join(parts, ", ")
}

// An outline has a limited size however long the call gets, so that a call with
// many files is read in linear time.
func TestOutlinesAreBounded(t *testing.T) {
	t.Parallel()
	b := newPatchBench(t, nil)
	follow := b.tools["ApplyPatch"].(agent.Drafter).Draft(true)
	follow("*** Begin Patch\n")
	var got agent.DraftedChanges
	for i := range 2000 {
		got = follow(fmt.Sprintf("*** Add File: %d\n+x\n", i))
	}
	if len(got.Changes) != maxOutlined || got.Earlier != 2000-maxOutlined || got.Changes[maxOutlined-1].Path != "1999" {
		t.Errorf("%d changes, %d earlier, the last %+v", len(got.Changes), got.Earlier, got.Changes[maxOutlined-1])
	}
}

// The strings of any JSON object are read as JSON defines them, wherever the
// text is cut. Other texts do not panic.
func FuzzMemberReader(f *testing.F) {
	for _, text := range []string{
		`{"a":"b","c":["x",{"a":"y"}],"d":{"e":"f"},"g":1,"h":"\u00e4\ud83d\ude00\ud83d\n\ude00\"\\"}`,
		`{"\u0061":"b\/","":"","c" : "ä😀"}`, `["a"]`, `"a"`, `{"a":"\ud8`, `}{"a":"b"`, `{"a":"\ud800\u0041"}`, `{{"a":"b"`,
	} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		got := map[string]string{}
		m := memberReader{pass: func(member, piece string) { got[member] += piece }}
		for rest := text; rest != ""; {
			n := min(int(size%16)+1, len(rest))
			m.append(rest[:n])
			rest = rest[n:]
		}
		var members map[string]json.RawMessage
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &members) != nil || repeats(text, len(members)) {
			return
		}
		want := map[string]string{}
		for name, raw := range members {
			var s *string
			if json.Unmarshal(raw, &s) == nil && s != nil {
				want[name] = *s
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	})
}

// repeats reports whether an object has more members than different names.
func repeats(text string, names int) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	members, depth, key := 0, 0, false
	for {
		token, err := dec.Token()
		if err != nil {
			return members > names
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			key = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth != 1 {
			continue
		}
		if key {
			members++
		}
		key = !key
	}
}

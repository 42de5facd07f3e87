package tool

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// swap is one replacement of a call.
func swap(old, new string) args { return args{"old_string": old, "new_string": new} }

// MultiEdit makes all of its replacements, a later one in what an earlier one left, or none; the
// user is shown beforehand what is done.
func TestMultiEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"f.txt": "one\r\ntwo\r\nthree\r\n"})
	call := func(edits ...any) args { return args{"file_path": "f.txt", "edits": edits} }
	good := call(swap("one", "1\nand a half"), swap("a half", "0.5"), args{"old_string": "t", "new_string": "T", "replace_all": true})
	b.refuse("MultiEdit", good, "has not been read")
	b.succeed("Read", args{"file_path": "f.txt"})
	previewed, err := b.tools["MultiEdit"].(agent.Previewer).Preview(t.Context(), good.json(t))
	if err != nil {
		t.Fatal(err)
	}
	r := b.succeed("MultiEdit", good)
	if len(previewed) != 1 || r.Details.Changes[0] != previewed[0] || r.Output != "Replaced 4 occurrences in f.txt." {
		t.Errorf("shown %+v, done %+v: %s", previewed, r.Details.Changes, r.Output)
	}
	const now = "1\r\nand 0.5\r\nTwo\r\nThree\r\n"
	if got := b.content("f.txt"); got != now {
		t.Errorf("%q", got)
	}
	b.succeed("MultiEdit", call(swap("Two", "2"))) // what was written counts as read
	b.succeed("MultiEdit", call(swap("2", "Two")))
	for _, tt := range []struct {
		call args
		want string
	}{
		{call(swap("1", "2"), swap("nothing", "x")), "edit 2 of 2: old_string was not found"},
		{call(swap("1", "2"), swap("1", "x")), "edit 2 of 2: old_string was not found"},
		{call(swap("T", "x")), "edit 1 of 1: old_string occurs 2 times"},
		{call(swap("", "x")), "old_string is empty"},
		{call(swap("1", "1")), "are equal"},
		{args{"file_path": "gone.txt", "edits": []any{swap("a", "b")}}, "To create a file use Write"},
		{args{"file_path": ".", "edits": []any{swap("a", "b")}}, ""},
	} {
		b.refuse("MultiEdit", tt.call, tt.want)
		if got := b.content("f.txt"); got != now {
			t.Fatalf("%v left %q", tt.call, got)
		}
	}
	check := b.tools["MultiEdit"].(agent.Validator)
	many := call()
	for range 101 {
		many["edits"] = append(many["edits"].([]any), swap("a", "b"))
	}
	for _, wrong := range []args{call(), {"file_path": "f.txt", "edits": nil}, many} {
		if check.Validate(wrong.json(t)) == nil {
			t.Errorf("%v edits are valid", len(wrong))
		}
	}
	b.put("f.txt", strings.Replace(now, "Three", "Four", 1))
	b.refuse("MultiEdit", call(swap("Four", "x")), "has changed on disk")
	b.succeed("MultiEdit", call(swap("Two", "2")))
	if paths := b.tools["MultiEdit"].(agent.Accessor).Access(t.Context(), good.json(t)).Writes; len(paths) != 1 || paths[0] != b.path("f.txt") {
		t.Errorf("the gate is told of %v", paths)
	}
}

// Replacements that are taken back in the opposite order leave the same bytes.
func TestMultiEditThereAndBack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	for range 30 {
		var text bytes.Buffer
		words := random.Perm(60)
		for _, w := range words {
			text.WriteString("w" + strings.Repeat("x", w) + []string{"\n", "\r\n", " \n"}[random.IntN(3)])
		}
		b := newBench(t, map[string]string{"f": text.String()})
		b.succeed("Read", args{"file_path": "f"})
		var there, back []any
		for i := range 1 + random.IntN(20) {
			word := "w" + strings.Repeat("x", words[i]) + "\n"
			other := "v" + strings.Repeat("y", i) + "\n"
			if !strings.Contains(text.String(), word) {
				continue
			}
			before, after := "\n"+word, "\n"+other
			if strings.Count(text.String(), before) != 1 {
				continue
			}
			there = append(there, swap(before, after))
			back = append([]any{swap(after, before)}, back...)
		}
		if len(there) == 0 {
			continue
		}
		b.succeed("MultiEdit", args{"file_path": "f", "edits": there})
		b.succeed("MultiEdit", args{"file_path": "f", "edits": back})
		if got := b.content("f"); got != text.String() {
			t.Fatalf("%q became %q by %v", text.String(), got, there)
		}
	}
}

package tool

import (
	"strings"
	"testing"
)

// LOOP-25, LOOP-111: on request, an edit finds text that is only similar, says
// so, and never chooses between two places.
func TestFuzzyEdit(t *testing.T) {
	t.Parallel()
	const file = "func a() {\n\t\tif ready {\n\t\t\trun(1, 2)\n\t\t}\n}\n"
	tests := []struct {
		name, file, old, new string
		all                  bool
		want, says           string
	}{
		{"exact", file, "run(1, 2)", "stop()", false, strings.Replace(file, "run(1, 2)", "stop()", 1), "Replaced 1"},
		{"indentation", file, "if ready {\n\trun(1, 2)\n}", "if done {\n\tstop()\n}", false, "func a() {\n\t\tif done {\n\t\t\tstop()\n\t\t}\n}\n", "in its indentation"},
		{"spaces between words", file, "if ready{ run( 1,2 ) }", "halt()", false, "func a() {\n\t\thalt()\n}\n", "in the space between words"},
		{"a whole word among others", "if  total  == subtotalA {\n  if  total == subtotal {\n", "if total == subtotal", "if done", false, "if  total  == subtotalA {\n  if done {\n", "in the space between words"},
		{"a word at the end", "x\n  sum  :=  straße", "sum := straße", "z", false, "x\n  z", "in the space between words"},
		{"a slip", "one\n\tthe quick brown fox jumps\ntwo\n", "the quick brown fax jumps", "a hare sits", false, "one\n\ta hare sits\ntwo\n", "less than a tenth"},
		{"every place", "  x = compute(1)\ny\n  x = compute(1)\n", "x  =  compute(1)", "z", true, "  z\ny\n  z\n", "Replaced 2"},
		{"CRLF", "a\r\n  first line\r\n  second line\r\n", "\tfirst line\n\tsecond line", "\tthird line\n\tlast line", false, "a\r\n  third line\r\n  last line\r\n", "in its indentation"},
	}
	for _, tt := range tests {
		b := newBench(t, map[string]string{"f": tt.file})
		b.succeed("Read", args{"file_path": "f"})
		in := args{"file_path": "f", "old_string": tt.old, "new_string": tt.new, "replace_all": tt.all, "fuzzy": true}
		if r := b.run("Edit", in); r.IsError || !strings.Contains(r.Output, tt.says) {
			t.Errorf("%s: error %t, %s", tt.name, r.IsError, r.Output)
		}
		if got := b.content("f"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFuzzyEditRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, old string }{
		"two places":     {"  x = compute(1)\ny\n    x = compute(1)\n", "x  =  compute(1)"},
		"too different":  {"the quick brown fox jumps\n", "the slow brown cat jumps"},
		"too short":      {"abcd\n", "abce"},
		"half a word":    {"func f() {\n\tif  total  == subtotalA {\n", "if total == subtotal"},
		"half a letter":  {"x  :=  e\u0301\n", "x := e"},
		"half a number":  {"x  :=  1²\n", "x := 1"},
		"nothing but ws": {"a\n", " \n "},
	} {
		b := newBench(t, map[string]string{"f": tt.file})
		b.succeed("Read", args{"file_path": "f"})
		b.refuse("Edit", args{"file_path": "f", "old_string": tt.old, "new_string": "z", "fuzzy": true}, "old_string")
		if b.content("f") != tt.file {
			t.Errorf("%s: the file was changed", name)
		}
	}
	b := newBench(t, map[string]string{"f": "  first line here\n"})
	b.succeed("Read", args{"file_path": "f"})
	b.refuse("Edit", args{"file_path": "f", "old_string": "first lime here", "new_string": "z"}, "not found") // not requested
}

// An edit without old text creates the file on request.
func TestFuzzyEditCreates(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := b.succeed("Edit", args{"file_path": "new/f", "old_string": "", "new_string": "text\n", "fuzzy": true})
	if !r.Details.Changes[0].Created || b.content("new/f") != "text\n" {
		t.Errorf("%+v", r)
	}
	b.refuse("Edit", args{"file_path": "new/f", "old_string": "", "new_string": "x", "fuzzy": true}, "empty")
}

func FuzzReplaceLike(f *testing.F) {
	f.Add("a\n\tb c\n", "b  c", "d", true)
	f.Add("  x\r\n y\r\n", "x\ny", "\tz\n", false)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		if len(content) > 1000 || len(old) > 200 {
			return
		}
		done, err := replaceLike(newBudget(t.Context()), []byte(content), old, new, all)
		if err == nil && (string(done.content) == content || done.count == 0 || done.count > 1 && !all || done.resembles == "") {
			t.Errorf("%q: %+v", content, done)
		}
	})
}

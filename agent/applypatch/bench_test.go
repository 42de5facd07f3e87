package applypatch_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/applypatch"
)

// large returns a patch of a hundred chunks and its file of 10,000 lines. With
// an indent, the lines of the file and of the patch differ in their
// indentation.
func large(indent string) (text string, content []byte) {
	var patch, file strings.Builder
	patch.WriteString("*** Begin Patch\n*** Update File: a\n")
	for i := range 10_000 {
		fmt.Fprintf(&file, "%sline %d of the file\n", indent, i)
		if i%100 == 50 {
			fmt.Fprintf(&patch, "@@\n line %d of the file\n-line %d of the file\n+line %d, changed\n line %d of the file\n", i-1, i, i, i+1)
		}
	}
	patch.WriteString("*** End Patch\n")
	return patch.String(), []byte(file.String())
}

func BenchmarkParse(b *testing.B) {
	text, _ := large("")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := applypatch.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDraft(b *testing.B) {
	text, _ := large("")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var d applypatch.Draft
		for i := 0; i < len(text); i += 4 { // about one token
			d.Append(text[i:min(i+4, len(text))])
			_ = d.Operations()
		}
		if _, err := d.Finish(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	for _, indent := range []string{"", "\t"} {
		text, content := large(indent)
		patch, err := applypatch.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("indent=%t", indent != ""), func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				if _, err := patch.Plan(func(string) ([]byte, error) { return content, nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCommit(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		root := tree(b, files)
		b.StartTimer()
		if _, err := applypatch.Apply(root, every); err != nil {
			b.Fatal(err)
		}
	}
}

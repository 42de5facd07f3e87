package env

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes up a project: folders, files of text and of bytes, and rules that ignore some.
func tree(random *rand.Rand) map[string]string {
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	name := func() string {
		return pick("a", "b", "build", "src", "lib", "文件", "a b", ".hidden", "x-1") + pick("", "", ".go", ".txt", ".log", ".min.js")
	}
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n"}
	folders := []string{"."}
	for range 40 {
		in := folders[random.IntN(len(folders))]
		if random.IntN(4) == 0 && len(folders) < 12 {
			folders = append(folders, path.Join(in, fmt.Sprint(pick("dir", "build", "node", "深"), len(folders))))
			continue
		}
		var text strings.Builder
		for range random.IntN(6) {
			text.WriteString(pick("hello", "Hello world", "func main() {}", "", "茶 hello", "x\xff hello", "\thello\r", "hello\r") + "\n")
		}
		if random.IntN(8) == 0 {
			text.WriteString("hello\x00")
		}
		files[path.Join(in, fmt.Sprint(random.IntN(9), name()))] = text.String()
	}
	for _, in := range folders {
		if random.IntN(2) == 0 {
			continue
		}
		var rules []string
		for range 1 + random.IntN(4) {
			rules = append(rules, pick("", "", "!", "/")+pick("*.log", "build*", "dir*/", "**/*.txt", "[0-3]a*", "src", "*.go", "node*/**", "\\#x", "# nothing", "深*/")+pick("", "", " "))
		}
		files[path.Join(in, pick(".gitignore", ".gitignore", ".ignore"))] = strings.Join(rules, "\n") + "\n"
	}
	return files
}

// OAS-304, OAS-305: what is found in a made-up project is the same with ripgrep and without.
func TestSearchesAgree(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		files := tree(rand.New(rand.NewPCG(seed, 35)))
		with := newLocal(t, files)
		if with.ripgrep == "" {
			t.Skip("ripgrep is not installed")
		}
		without, err := NewLocal(with.dir)
		if err != nil {
			t.Fatal(err)
		}
		without.ripgrep = ""
		for _, query := range []GrepQuery{
			{Pattern: "hello"}, {Pattern: "hello", Mode: GrepContent}, {Pattern: "hello", Mode: GrepCount}, {Pattern: "HELLO", IgnoreCase: true},
			{Pattern: "hello", Glob: "*.go"}, {Pattern: "hello", Glob: "!*.txt"}, {Pattern: "main() {", Fixed: true, Mode: GrepContent},
			{Pattern: `hello\n+hello`, Multiline: true, Mode: GrepContent}, {Pattern: `hello.hello`, Multiline: true, Mode: GrepCount},
			{Pattern: `hello\r?\n`, Multiline: true, Mode: GrepContent, After: 1}, {Pattern: `\{\}$.^h`, Multiline: true}, {Pattern: `o$\n^.h`, Multiline: true, Mode: GrepCount},
		} {
			if query.Multiline && seed%4 != 0 { // each takes several processes
				continue
			}
			one, err := with.Grep(t.Context(), query)
			other, failed := without.Grep(t.Context(), query)
			if diff := cmp.Diff(one.Lines, other.Lines); err != nil || failed != nil || diff != "" {
				t.Errorf("seed %d, %+v: %v, %v (-ripgrep +own):\n%s", seed, query, err, failed, diff)
			}
		}
		for _, pattern := range []string{"**/*.go", "*", "**/*a*", "dir*/**"} {
			one, err := with.Glob(t.Context(), GlobQuery{Pattern: pattern})
			other, failed := without.Glob(t.Context(), GlobQuery{Pattern: pattern})
			if diff := cmp.Diff(one.Lines, other.Lines); err != nil || failed != nil || diff != "" {
				t.Errorf("seed %d, %s: %v, %v (-ripgrep +own):\n%s", seed, pattern, err, failed, diff)
			}
		}
	}
}

// Package mention reads the files that a text mentions as "@path", and puts what is in
// them behind the text, so that a model need not read them first.
package mention

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// Limits of what one text attaches.
const (
	maxTried = 200 // names that are tried as files
	maxFiles = 20
	maxFile  = 64 << 10  // bytes of one file
	maxAll   = 256 << 10 // bytes of all of them
	maxName  = 4096      // bytes of a name
	maxShown = 20 << 20  // bytes of all pictures
)

// File is what a mention attaches: a text, or a picture.
type File struct {
	// About says what it is; empty means that it is the file of the name.
	About   string
	Text    string
	Picture *llm.Media
}

// Reader returns a file, and false if it is not a file that may be attached.
type Reader func(path string) (file File, ok bool)

// TextOnly returns a reader that says of a picture that it is one; nil reads nothing.
func TextOnly(read Reader) Reader {
	if read == nil {
		return nil
	}
	return func(path string) (File, bool) {
		file, ok := read(path)
		if file.Picture != nil {
			file = File{Text: "[This file is a picture.]"}
		}
		return file, ok
	}
}

// Files gathers what is attached to one text. A zero Files without Read attaches nothing.
type Files struct {
	Read  Reader
	names []string
	tried int
	text  strings.Builder
	media []llm.Media
	shown int // bytes of media
}

// Text returns what stands behind the text that mentions the files; empty if there are none.
// It is as it was read: the caller escapes it.
func (f *Files) Text() string { return f.text.String() }

// show attaches a picture, if there is room for it.
func (f *Files) show(name string, picture llm.Media) {
	if f.shown+len(picture.Data) > maxShown {
		fmt.Fprintf(&f.text, "\n\n[The picture %s is left out: the others are too large together.]", name)
		return
	}
	picture.Name = name
	f.shown += len(picture.Data)
	f.media = append(f.media, picture)
	fmt.Fprintf(&f.text, "\n\nThe picture %s is attached.", name)
}

// maxCuts limits how often a name is shortened until it is that of a file.
const maxCuts = 12

// Mention attaches the file that is named at the beginning of a text without spaces, and
// returns the length of its name; 0 if it names none. The longest name that exists counts:
// names may have brackets and commas, and punctuation or words of a language without
// spaces may follow.
func (f *Files) Mention(text string) int {
	tried := map[string]bool{}
	for end, cuts := len(text), 0; end > 0 && cuts < maxCuts; cuts++ {
		name := text[:end]
		plain := name
		if i := strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 {
			plain = name[:i]
		}
		for _, name := range []string{name, bare(name), plain, bare(plain)} {
			if tried[name] {
				continue
			}
			if tried[name] = true; f.add(name) {
				return len(name)
			}
		}
		end = strings.LastIndexFunc(name, func(r rune) bool { return r < unicode.MaxASCII && Ends(byte(r)) })
	}
	return 0
}

func bare(name string) string { return strings.TrimRight(name, ".:!?") }

// add attaches a file, and reports whether it is one.
func (f *Files) add(name string) bool {
	if name == "" || f.Read == nil || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return false
	}
	if slices.Contains(f.names, name) {
		return true
	}
	if len(f.names) >= maxFiles || f.tried >= maxTried || f.text.Len() >= maxAll {
		return false
	}
	f.tried++
	file, ok := f.Read(name)
	about := name
	if path, from, to, cut := linesOf(name); !ok && cut {
		if file, ok = f.Read(path); ok {
			file.Text, about = lines(file.Text, from, to), fmt.Sprintf("%s, lines %d to %d", path, from, to)
		}
	}
	if !ok {
		return false
	}
	f.names = append(f.names, name)
	if file.Picture != nil {
		f.show(about, *file.Picture)
		return true
	}
	text := file.Text
	if limit := min(maxFile, maxAll-f.text.Len()); len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "\n[The rest was left out.]"
	}
	mark := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	fmt.Fprintf(&f.text, "\n\n%s:\n\n%s\n%s\n%s", cmp.Or(file.About, "The file "+about), mark, strings.TrimSuffix(text, "\n"), mark)
	return true
}

var ofLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?$`) })

// linesOf divides a name such as "main.go#L3-9" into a path and its lines.
func linesOf(name string) (path string, from, to int, ok bool) {
	m := ofLines().FindStringSubmatch(name)
	if m == nil {
		return "", 0, 0, false
	}
	from, _ = strconv.Atoi(m[2])
	to = from
	if m[3] != "" {
		to, _ = strconv.Atoi(m[3])
	}
	return m[1], from, to, from > 0 && to >= from
}

// lines returns some lines of a text, from 1 on; the last one may be beyond its end.
func lines(text string, from, to int) string {
	all := strings.SplitAfter(text, "\n")
	return strings.Join(all[min(from-1, len(all)):min(to, len(all))], "")
}

// longestRun returns the length of the longest run of a character.
func longestRun(text string, c byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// Attached returns what stands behind a text that a person wrote, and the pictures that it
// mentions; empty if it mentions no file. A name with spaces stands in quotes: @"a file". What files say cannot be taken for a
// section of the system prompt.
func Attached(text string, read Reader) (behind string, media []llm.Media) {
	f := Files{Read: read}
	for at := 0; f.tried < maxTried; {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 {
			break
		}
		at += i + 1
		if at > 1 && Joins(text[at-2]) {
			continue
		}
		if quoted, ok := strings.CutPrefix(text[at:], `"`); ok {
			if end := strings.IndexAny(quoted, "\"\n"); end >= 0 && quoted[end] == '"' {
				f.add(quoted[:end])
				at += end + 2
			}
			continue
		}
		at += f.Mention(text[at:nameEnd(text, at)])
	}
	return agent.EscapeTags(f.Text()), f.media
}

// Of returns how a text mentions a path.
func Of(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r < unicode.MaxASCII && Ends(byte(r)) }) || bare(path) != path {
		return `@"` + path + `"`
	}
	return "@" + path
}

// nameEnd returns where the text ends that may be a name without quotes.
func nameEnd(text string, at int) int {
	for at < len(text) && !Separates(text[at]) {
		at++
	}
	return at
}

// Separates reports whether a character is never part of a name without quotes.
func Separates(c byte) bool { return strings.IndexByte(" \t\r\n`\"'<>|", c) >= 0 }

// Ends reports whether a character may end a name without quotes, or be a part of it.
func Ends(c byte) bool { return Separates(c) || strings.IndexByte("*()[],;@{}", c) >= 0 }

// Joins reports whether a character before "@" makes it a part of a word, such as an
// address, or of code.
func Joins(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("@`/.", c) >= 0
}

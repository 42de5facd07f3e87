package skill

import (
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/mention"
)

// Limits of a prompt.
const (
	maxLines      = 50        // command lines of one skill
	maxPrinted    = 32 << 10  // bytes of what one of them printed
	maxPrintedAll = 128 << 10 // bytes of what all of them printed
	maxArguments  = 64 << 10  // bytes of what arguments replace
	maxWords      = 100       // of the arguments
)

// Expansion is what a skill's prompt is made of, besides its body.
type Expansion struct {
	Args string
	// Session and Folder are the session's id and folder.
	Session, Folder string
	// Ran is what the skill's lines printed, in the order of Lines. A line without an output
	// stays as it is written.
	Ran []string
	// Attach reads the files that the body mentions as "@path".
	Attach mention.Reader
}

// Expand returns the prompt. The texts of arguments, files and command lines are inserted as
// they are: nothing in it is run or replaced, and none of it can be taken for a section of
// the system prompt.
func (s Skill) Expand(x Expansion) string {
	e := &expander{holes: newHoles(s, x), files: mention.Files{Read: mention.TextOnly(x.Attach)}}
	var out strings.Builder
	ran, left := 0, maxPrintedAll
	for _, part := range e.parts {
		if part.kind != command {
			e.replace(&out, part)
			continue
		}
		e.used = e.used || usesArguments(part.code, s.Usage.Arguments)
		if ran < len(x.Ran) && ran < maxLines {
			printed := strings.TrimRight(x.Ran[ran], "\n")
			out.WriteString(bounded(printed, min(left, maxPrinted)))
			left -= min(len(printed), left, maxPrinted)
		} else {
			out.WriteString(part.text)
		}
		ran++
	}
	text := strings.TrimSpace(out.String())
	if args := strings.TrimSpace(x.Args); args != "" && !e.used {
		text += "\n\nARGUMENTS: " + bounded(args, maxArguments)
	}
	if len(s.Files) > 0 && s.Place.Folder != "" {
		text = s.listed() + "\n\n" + text
	}
	return agent.EscapeTags(strings.TrimSpace(text + e.files.Text()))
}

// maxListed limits the names of a skill's files in its prompt, in bytes.
const maxListed = 4 << 10

// listed names the other files of a skill, which the model reads when it needs them (OAS-811).
func (s Skill) listed() string {
	var out strings.Builder
	fmt.Fprintf(&out, "The files of this skill are in the folder %s. Paths are relative to it:", s.folder())
	for i, f := range s.Files {
		if out.Len()+len(f.Path) > maxListed {
			return fmt.Sprintf("%s\n- %d more", out.String(), len(s.Files)-i+s.MoreFiles)
		}
		out.WriteString("\n- " + oneLine(f.Path))
	}
	if s.MoreFiles > 0 {
		fmt.Fprintf(&out, "\n- %d more", s.MoreFiles)
	}
	return out.String()
}

// bounded cuts a text, and says so.
func bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + fmt.Sprintf("\n[%d more bytes were left out]", len(text)-limit)
}

type expander struct {
	holes
	files    mention.Files
	used     bool // a placeholder for arguments was replaced
	inserted int  // bytes of arguments
}

// replace writes a part with its placeholders replaced.
func (e *expander) replace(out *strings.Builder, part segment) {
	text, done := part.text, 0
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "\\${@")
		if next < 0 {
			break
		}
		i += next
		out.WriteString(text[done:i])
		done = i
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '$':
			if h, ok := e.at(part, i+1); ok { // the backslash says that it is none
				out.WriteString(text[i+1 : i+1+h.length])
				i += 1 + h.length
				done = i
				continue
			}
		case c == '$' || c == '{':
			if n := e.fill(out, part, i); n > 0 {
				i += n
				done = i
				continue
			}
		case c == '@' && part.kind == prose && (i == 0 || !mention.Joins(text[i-1])):
			i += e.mention(out, part, i)
			done = i
			continue
		}
		i++
	}
	out.WriteString(text[done:])
}

// fill writes the value of the placeholder at a place and returns its length, which is 0 if
// there is none, or no room for what it stands for.
func (e *expander) fill(out *strings.Builder, part segment, i int) int {
	h, ok := e.at(part, i)
	if !ok {
		return 0
	}
	if h.argument {
		e.used = true
		if e.inserted += len(h.value); e.inserted > maxArguments && e.inserted > len(h.value) {
			return 0
		}
		h.value = bounded(h.value, maxArguments)
	}
	out.WriteString(h.value)
	return h.length
}

// mention writes "@path" with its placeholders replaced, and attaches the file if it is one. It
// returns the length of what it read.
func (e *expander) mention(out *strings.Builder, part segment, i int) int {
	text := part.text
	var path strings.Builder
	end := i + 1
	for end < len(text) && !mention.Separates(text[end]) {
		if n := e.fill(&path, part, end); n > 0 {
			end += n
			continue
		}
		path.WriteByte(text[end])
		end++
	}
	out.WriteString("@" + path.String())
	e.files.Mention(path.String())
	return end - i
}

package agent

import (
	"regexp"
	"strings"
	"sync"
)

// gap may stand between the parts of a tag, and a model still reads the tag:
// every kind of space, and invisible characters.
const gap = `[\s\pZ\pC]*`

var (
	// reminderTag matches the beginning or end mark of a reminder.
	reminderTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(` + gap + `/?` + gap + `update)`) })
	// reservedTag matches the marks of every section that the system prompt
	// explains.
	reservedTag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)<(` + gap + `/?` + gap + `(?:update|environment|repository|(?:project|user|agent)[\W_]*instructions))`)
	})
)

// Reminder writes a message to the model that no person wrote, in the form that
// the system prompt explains. The text can neither end the reminder nor begin
// another one. Text that it quotes needs [EscapeTags] as well.
func Reminder(text string) string {
	return "<update>\n" + reminderTag().ReplaceAllString(text, `<\$1`) + "\n</update>"
}

// EscapeTags returns foreign text, such as a document, a name or a hook's words,
// so that a model cannot take a part of it for a section of its own: it contains
// no tag that the system prompt uses.
func EscapeTags(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return reservedTag().ReplaceAllString(text, `<\$1`)
}

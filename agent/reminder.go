package agent

import "regexp"

// reminderTag matches the beginning or end mark of a reminder.
var reminderTag = regexp.MustCompile(`(?i)<(\s*/?\s*update)`)

// Reminder writes a message to the model that no person wrote, in the form that
// the system prompt explains. Quoted text, such as a document, a name or a
// hook's words, can neither end the reminder nor begin another one.
func Reminder(text string) string {
	return "<update>\n" + reminderTag.ReplaceAllString(text, `<\$1`) + "\n</update>"
}

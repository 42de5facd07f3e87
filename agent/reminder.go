package agent

import "regexp"

// reminderTag matches what begins or ends a reminder.
var reminderTag = regexp.MustCompile(`(?i)<(\s*/?\s*update)`)

// Reminder writes what a model is told by no person, in the one form that its
// system prompt explains. What text quotes, a document, a name, the words of a
// hook, cannot end it or begin one of its own.
func Reminder(text string) string {
	return "<update>\n" + reminderTag.ReplaceAllString(text, `<\$1`) + "\n</update>"
}

// Package plain checks texts of models that people read in forms and lists.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check returns an error, a phrase for the model, if a text has more characters than
// most, control characters other than tabs and line ends, or invalid UTF-8; and if
// nothing is in it although it is required. what names the text.
func Check(what, text string, most int, required bool) error {
	return check(what, text, most, required, "\n\r\t")
}

// Line is [Check] for a text that is a single line.
func Line(what, text string, most int, required bool) error {
	return check(what, text, most, required, "")
}

func check(what, text string, most int, required bool, controls string) error {
	if required && strings.TrimSpace(text) == "" {
		return fmt.Errorf("%s is empty", what)
	}
	if n := utf8.RuneCountInString(text); n > most {
		return fmt.Errorf("%s has %d characters, more than %d: shorten it", what, n, most)
	}
	for _, r := range text {
		switch {
		case r == utf8.RuneError:
			return fmt.Errorf("%s is not valid text", what)
		case unicode.IsControl(r) && !strings.ContainsRune(controls, r):
			return fmt.Errorf("%s has the control character %U: leave it out", what, r)
		}
	}
	return nil
}

// Key is the same for texts that a person would take for equal.
func Key(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

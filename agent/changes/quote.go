package changes

import "atelier.dev/atelier/agent/internal/pathname"

// Quote returns a file's name as it is shown and passed on: unchanged if it is
// UTF-8 and does not begin with a quotation mark, else in quotation marks, with
// git's escapes. [Unquote] returns the name.
func Quote(name string) string { return pathname.Quote(name) }

// Unquote returns the name that [Quote] or git wrote. A name without quotation
// marks around it, or with an unknown escape, is returned unchanged.
func Unquote(shown string) string { return pathname.Unquote(shown) }

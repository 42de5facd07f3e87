package backend

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSessionID limits the id of a session, in bytes.
const maxSessionID = 128

// CheckSessionID refuses what cannot be the id of a session. Ids are names of
// files, so they may not lead to another folder (OAS-612).
func CheckSessionID(id string) error {
	if id == "" || id == "." || len(id) > maxSessionID || !utf8.ValidString(id) || strings.ContainsAny(id, `/\`) ||
		strings.Contains(id, "..") || strings.ContainsFunc(id, unicode.IsControl) {
		return Problem(ProblemSessionID)
	}
	return nil
}

package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	namePrefix    = "mcp__"
	mostModelName = 64 // what every provider accepts (LLM-38)
)

// ToolName returns the name of a server's tool for models: mcp__server__tool, of at
// most 64 characters, each a letter, a digit, _ or - (OAS-407). A name that had to
// be changed, or that taken says is in use, ends in a part of a digest of the
// original names; the map of the [Manager] leads back from it.
func ToolName(server, tool string, taken func(string) bool) string {
	safeServer, safeTool := safeName(server), safeName(tool)
	name := namePrefix + safeServer + "__" + safeTool
	exact := safeServer == server && safeTool == tool && len(name) <= mostModelName
	if exact && !taken(name) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	digest := hex.EncodeToString(sum[:])
	for n := 6; n < len(digest); n++ {
		suffix := "_" + digest[:n]
		// The server's part keeps the rules for a whole server readable.
		server := cut(safeServer, mostModelName/2-len(namePrefix))
		head := cut(namePrefix+server+"__"+safeTool, mostModelName-len(suffix))
		if name = head + suffix; !taken(name) {
			return name
		}
	}
	return name
}

// safeName replaces what names for models may not have. Underscores never
// double, so that the parts of a name can be told.
func safeName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if b.Len() >= mostModelName {
			break
		}
		safe := r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !safe {
			r = '_'
		}
		if r == '_' && strings.HasSuffix(b.String(), "_") {
			continue
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

func cut(text string, most int) string { return text[:min(len(text), most)] }

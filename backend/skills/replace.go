package skills

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/changes"
)

// maxDifference limits the difference of a skill that is shown, in bytes.
const maxDifference = 256 << 10

// instead compares a parcel with the skill that it would replace: whether they are the
// same, and how their files differ. Both are zero if there is no such skill, or if it
// cannot be read.
func (x parcel) instead(ctx context.Context, folder string) (same bool, difference string) {
	old, err := unpack(ctx, folder)
	if err != nil {
		return false, ""
	}
	for i := range old {
		if strings.EqualFold(old[i].path, mainFile) {
			old[i].path = mainFile
		}
	}
	var out strings.Builder
	for _, f := range old {
		if fileAt(x.files, f.path) < 0 {
			fmt.Fprintf(&out, "removed %s, %d bytes\n", f.path, len(f.data))
		}
	}
	for _, f := range x.files {
		i := fileAt(old, f.path)
		if i < 0 {
			fmt.Fprintf(&out, "added %s, %d bytes\n", f.path, len(f.data))
			continue
		}
		if f.exec != old[i].exec {
			fmt.Fprintf(&out, "%s: executable %t, before %t\n", f.path, f.exec, old[i].exec)
		}
		if bytes.Equal(f.data, old[i].data) {
			continue
		}
		fmt.Fprintf(&out, "changed %s, %d bytes, before %d\n", f.path, len(f.data), len(old[i].data))
		if isShown(f.data) && isShown(old[i].data) {
			out.WriteString(changes.Unified(string(old[i].data), string(f.data), 3))
		}
		if out.Len() > maxDifference {
			return false, strings.ToValidUTF8(out.String()[:maxDifference], "") + "\n…"
		}
	}
	return out.Len() == 0, out.String()
}

func fileAt(files []packed, path string) int {
	return slices.IndexFunc(files, func(f packed) bool { return f.path == path })
}

// isShown reports whether a file is a text that is short enough to be shown.
func isShown(data []byte) bool {
	return len(data) <= maxText && utf8.Valid(data) && !bytes.Contains(data, []byte{0})
}

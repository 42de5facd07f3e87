package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sizes are the limits of sizes as a program has them, in MB.
var sizes = map[string]int{
	"stream": maxStream >> 20, "event": maxEvent >> 20, "kept": maxKept >> 20, "arguments": maxArguments >> 20, "reply": maxReply >> 20,
}

// The tests have a 64th of the limits, because so many bytes take the race
// detector minutes.
func init() {
	for _, size := range []*int{&maxStream, &maxEvent, &maxKept, &maxArguments, &maxReply} {
		*size /= 64
	}
}

// The limits are those that the errors of a program state.
func TestSizes(t *testing.T) {
	t.Parallel()
	want := map[string]int{"stream": 256, "event": 32, "kept": 16, "arguments": 8, "reply": 16}
	if diff := cmp.Diff(want, sizes); diff != "" {
		t.Error(diff)
	}
	if got := tooLarge("the answer", 16<<20).Error(); got != "the answer was larger than 16 MB" {
		t.Error(got)
	}
}

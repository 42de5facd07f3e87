package projects

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A folder that does not answer holds the list up for half a second, and is looked
// at once, however often the list is asked for.
func TestAFolderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead := make(chan struct{})
		asked := make(chan string, 100)
		l := folderLooks{at: func(folder string) folderLook {
			asked <- folder
			if folder == "dead" {
				<-dead
			}
			return folderLook{branch: "main of " + folder}
		}}
		want := map[string]folderLook{"a": {branch: "main of a"}, "b": {branch: "main of b"}}
		for range 3 {
			begin := time.Now()
			found := l.all(t.Context(), []string{"dead", "a", "b"})
			if diff := cmp.Diff(want, found, cmp.AllowUnexported(folderLook{})); diff != "" {
				t.Error(diff)
			}
			if took := time.Since(begin); took != lookTime {
				t.Errorf("took %v", took)
			}
		}
		if n := len(asked); n != 1+3*2 {
			t.Errorf("%d looks", n)
		}
		close(dead)
		synctest.Wait()
		want["dead"] = folderLook{branch: "main of dead"}
		begin := time.Now()
		if diff := cmp.Diff(want, l.all(t.Context(), []string{"dead", "a", "b"}), cmp.AllowUnexported(folderLook{})); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("took %v once all answer", took)
		}
	})
}

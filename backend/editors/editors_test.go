package editors

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/backend"
)

// Only an editor that ends early and with an error has failed. One that stays open
// holds nothing up.
func TestEditorsThatEndAndStay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after time.Duration
		ends  error
		want  backend.ProblemID
		takes time.Duration
	}{
		"hands over": {after: 100 * time.Millisecond, takes: 100 * time.Millisecond},
		"fails":      {after: 100 * time.Millisecond, ends: errors.New("exit status 3"), want: backend.ProblemEditorEnded, takes: 100 * time.Millisecond},
		"stays":      {after: time.Hour, ends: errors.New("killed"), takes: grace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				time.AfterFunc(tt.after, func() { ended <- tt.ends })
				began := time.Now()
				err := watch(t.Context(), ended, "edit")
				var problem *backend.Error
				if errors.As(err, &problem) != (tt.want != "") || problem != nil && problem.ID != tt.want || time.Since(began) != tt.takes {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

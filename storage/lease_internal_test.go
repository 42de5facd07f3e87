package storage

import (
	"testing"
	"testing/synctest"
	"time"
)

// A process that is killed while it starts a command leaves its lock to that
// command for an instant. A lease waits that long, but no longer.
func TestLeaseOutlastsAnInstant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		one, two := &Store{leases: leases{dir: dir}}, &Store{leases: leases{dir: dir}}
		release, err := one.Lease("a")
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := two.Lease("a"); err == nil || time.Since(begin) != leaseWait {
			t.Errorf("a lease that is held: %v after %v", err, time.Since(begin))
		}
		time.AfterFunc(leaseWait/2, release)
		again, err := two.Lease("a")
		if err != nil {
			t.Fatal(err)
		}
		again()
	})
}

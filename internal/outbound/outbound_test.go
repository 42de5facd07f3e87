package outbound

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var untimed = cmpopts.IgnoreFields(Contact{}, "First", "Last")

// OC-06: each host that was contacted is listed with why and how much, over processes, and
// an offline process contacts this machine alone and lists what it refused.
func TestHostsAreCountedAndRefused(t *testing.T) {
	home := t.TempDir()
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer there.Close()
	post := func(why ContactPurpose, url, text string) error {
		client := http.Client{Transport: Through(why, http.DefaultTransport)}
		answer, err := client.Post(url, "text/plain", strings.NewReader(text))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return errors.Join(err, answer.Body.Close())
	}
	for _, text := range []string{"hello", "and on"} {
		if err := post(Model, there.URL, text); err != nil {
			t.Fatal(err)
		}
		if err := Save(home); err != nil { // as each process does
			t.Fatal(err)
		}
	}
	dial := Dial(Command, new(net.Dialer).DialContext)
	conn, err := dial(t.Context(), "tcp", strings.TrimPrefix(there.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err == nil {
		_, err = io.Copy(io.Discard, conn)
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}

	GoOffline()
	defer offline.Store(false)
	if err := post(Model, there.URL, "x"); err != nil {
		t.Errorf("this machine is refused: %v", err)
	}
	for _, url := range []string{"http://192.0.2.1/", "http://name.invalid/", "https://[2001:db8::1]/", "http://127.0.0.1.name.invalid/"} {
		if err := post(Page, url, "x"); !errors.Is(err, ErrOffline) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := dial(context.Background(), "tcp", "192.0.2.1:22"); !errors.Is(err, ErrOffline) {
		t.Errorf("a connection: %v", err)
	}
	if err := Save(home); err != nil {
		t.Fatal(err)
	}
	got, err := Load(home)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Host == "127.0.0.1" && got[i].Purpose == Command {
			if got[i].Received == 0 {
				t.Error("nothing was counted of a connection")
			}
			got[i].Received = 0 // as long as the server's header
		}
	}
	want := []Contact{
		{Host: "127.0.0.1", Purpose: Model, Requests: 3, Sent: 12, Received: 12},
		{Host: "127.0.0.1", Purpose: Command, Requests: 1, Sent: 18},
		{Host: "192.0.2.1", Purpose: Page, Refused: 1},
		{Host: "name.invalid", Purpose: Page, Refused: 1},
		{Host: "2001:db8::1", Purpose: Page, Refused: 1},
		{Host: "127.0.0.1.name.invalid", Purpose: Page, Refused: 1},
		{Host: "192.0.2.1", Purpose: Command, Refused: 1},
	}
	byName := cmpopts.SortSlices(func(a, b Contact) bool {
		return a.Host+string(a.Purpose) < b.Host+string(b.Purpose)
	})
	if diff := cmp.Diff(want, got, untimed, byName); diff != "" {
		t.Error(diff)
	}
}

// OC-06: the list has an end, whatever a model asks for.
func TestTheListHasAnEnd(t *testing.T) {
	Take()
	for i := range most + 5 {
		note(Page, strings.Repeat("a", i+1), Contact{Requests: 1})
	}
	all := Take()
	rest := all[len(all)-1]
	if len(all) != most+1 || rest.Host != "…" || rest.Requests != 5 {
		t.Errorf("%d hosts, the last is %+v", len(all), rest)
	}
}

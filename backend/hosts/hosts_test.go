package hosts_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/hosts"
	"atelier.dev/atelier/internal/outbound"
)

// OC-06: a page lists a host that was contacted a moment ago, with its purpose and how much
// went there.
func TestList(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("12345")) }))
	defer server.Close()
	outbound.Take() // what other tests of the process left
	client := http.Client{Transport: outbound.Through(outbound.Page, http.DefaultTransport)}
	answer, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var read [16]byte
	_, _ = answer.Body.Read(read[:])
	_ = answer.Body.Close()

	d := &dispatch.Dispatcher{}
	hosts.Register(d, t.TempDir())
	reply := d.Call(t.Context(), "hosts.list", "{}")
	var list struct{ OK hosts.HostList }
	if err := json.Unmarshal([]byte(reply), &list); err != nil || len(list.OK.Hosts) != 1 || list.OK.Offline {
		t.Fatalf("%s, %v", reply, err)
	}
	if h := list.OK.Hosts[0]; h.Host != "127.0.0.1" || h.Purpose != outbound.Page || h.Requests != 1 || h.Received != 5 || h.Last == 0 {
		t.Errorf("%+v", h)
	}
}

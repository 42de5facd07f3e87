// Command oauth-server is a server of the Model Context Protocol that wants the user to
// consent, for journeys in a browser. It prints its addresses as one line of JSON. A
// line "expire" on its input ends its access tokens, "revoke" ends all tokens; it repeats
// the line once that is done. It ends with its input.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	consent := flag.Bool("consent", false, "show a page with the links #yes and #no, instead of consenting at once")
	scopes := flag.String("scopes", "", "the scopes that every request needs, with commas between them")
	admin := flag.String("admin", "", "the scope that the tool admin needs")
	life := flag.Duration("life", time.Hour, "how long an access token lasts")
	flag.Parse()
	s, err := oauthtest.Start(oauthtest.Config{
		Consent: *consent, Scopes: strings.FieldsFunc(*scopes, func(r rune) bool { return r == ',' }), Admin: *admin, Life: *life,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": s.URL, "issuer": s.Issuer}); err != nil {
		return err
	}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		switch input.Text() {
		case "expire":
			s.Expire()
		case "revoke":
			s.Revoke()
		default:
			continue
		}
		fmt.Println(input.Text())
	}
	return input.Err()
}

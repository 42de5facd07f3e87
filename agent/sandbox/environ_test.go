package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var secretNames = strings.Fields(`
	OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY CODEANY_API_KEY openai_api_key
	AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE
	GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_SECRET AZURE_STORAGE_KEY
	AZURE_STORAGE_CONNECTION_STRING GITHUB_TOKEN GH_TOKEN GITHUB_PAT GITLAB_TOKEN
	CI_JOB_TOKEN NPM_TOKEN NODE_AUTH_TOKEN NPM_CONFIG__AUTH PYPI_TOKEN TWINE_PASSWORD
	DOCKER_PASSWORD DOCKER_AUTH_CONFIG PGPASSWORD PGPASSFILE MYSQL_PWD
	MYSQL_ROOT_PASSWORD DATABASE_URL REDIS_URL MONGODB_URI AMQP_URL SSH_AUTH_SOCK
	SSH_PRIVATE_KEY GPG_PASSPHRASE KUBECONFIG VAULT_TOKEN STRIPE_SECRET_KEY
	SLACK_WEBHOOK_URL SENTRY_DSN TWILIO_AUTH_TOKEN HF_TOKEN NETRC SECRET_KEY_BASE
	DJANGO_SECRET_KEY JWT_SECRET ENCRYPTION_KEY DB_PASS SMTP_PASSWD TOKEN PASSWORD
	DIGITALOCEAN_ACCESS_TOKEN MY_CREDENTIAL_FILE
	DBPASS GITHUBTOKEN CLIENTSECRET STRIPE_SK APP_PASSCODE authToken SLACK_WEBHOOK clientSecret apiKey NPMTOKEN
	ACCESSKEY privateKey DB_PW DBPWD ROOTPASS DEPLOY_CREDS API_TOKEN2 SIGNING_PIN PASSWORD_SALT AZURE_SAS
	DISCORD_WEBHOOK_URL MYSQLPASSWORD CONNECTIONSTRING WALLET_MNEMONIC BEARER npm_config__authToken`)

var secretValues = []string{
	"-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "-----BEGIN PRIVATE KEY-----",
	"postgres://user:pass@host/db", "https://:pw@proxy:8080",
	"sk-proj-abcdefghijklmnop1234", "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
	"github_pat_11ABCDEFG0abcdefghijkl", "glpat-abcdefghij0123456789", "xoxb-1234567890-abcdef",
	"AKIAIOSFODNN7EXAMPLE", "AIzaSyA-abcdefghijklmnopqrstuvwxyz01234",
	"https://hooks.slack.com/services/T0/B0/x", "Server=x;User=y;Password=z;", "whsec_abcdefghijklmnop1234",
	"gsk_abcdefghijklmnopqrst", `{"private_key": "x"}`, "Bearer abcdefghijklmnopqrst",
	"hf_abcdefghijklmnopqrstuv", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
}

var harmless = []string{
	"PATH=/usr/bin", "HOME=/root", "USER=u", "SHELL=/bin/bash", "LC_TIME=C", "TMPDIR=/tmp",
	"GOPATH=/go", "CARGO_HOME=/c", "NVM_DIR=/n", "PWD=/w", "OLDPWD=/o", "DISPLAY=:0",
	"GIT_AUTHOR_NAME=A", "TOKENIZERS_PARALLELISM=false", "KEYBOARD=us", "BYPASS=1",
	"URL=https://example.com/a:b@c", "HTTP_PROXY=http://proxy:8080", "PATTERN=x", "MONKEY=1",
	"KEYBOARD_LAYOUT=us", "XAUTHORITY=/x", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1/bus", "GNOME_KEYRING_CONTROL=/x",
	"COMPASS=n", "XDG_SESSION_ID=1", "WAYLAND_DISPLAY=w", "PASSENGER_APP_ENV=x", "SSH_AGENT_PID=1", "MAKEFLAGS=-j", "PIN=1",
	"GIT_COMMITTER_EMAIL=a@b", "NODE_OPTIONS=--x", "KEYMAP=x", "HISTFILE=/h", "COLORTERM=truecolor", "PYTHONHASHSEED=0",
}

func TestFilterDropsSecrets(t *testing.T) { // K-16, K-35, LOOP-36, LOOP-124
	t.Parallel()
	environ := slices.Clone(harmless)
	for _, name := range secretNames {
		environ = append(environ, name+"=x")
	}
	for i, value := range secretValues {
		environ = append(environ, "V"+string(rune('A'+i))+"="+value)
	}
	got := Filter{}.Apply(environ)
	for _, entry := range environ {
		want := slices.Contains(harmless, entry)
		if slices.Contains(got, entry) != want {
			t.Errorf("%s passes: %t, want %t", entry, !want, want)
		}
	}
	if len(secretNames) < 40 {
		t.Errorf("%d names, want at least 40", len(secretNames))
	}
}

// A variable that carries headers may carry a key in them.
func TestHeadersAreSecrets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS", "HTTP_HEADERS", "myHeaders",
		"HTTP_AUTHORIZATION", "PROXY_AUTHORIZATION", "myAuthorization"} {
		if got := (Filter{}).Apply([]string{name + "=X-Y: secret"}); slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, "X-Y") }) {
			t.Errorf("%s passes", name)
		}
	}
	if got := (Filter{}).Apply([]string{"HEADER=x", "HEADERS_DIR2=y"}); !slices.Contains(got, "HEADER=x") {
		t.Errorf("too much is kept back: %v", got)
	}
}

// No program that a command starts waits for somebody to edit or to browse.
func TestEditorsDoNotWait(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"EDITOR", "VISUAL", "GIT_EDITOR", "KUBE_EDITOR", "SUDO_EDITOR", "HGEDITOR", "SVN_EDITOR", "GH_EDITOR", "BROWSER"} {
		for _, inherit := range []Inherit{InheritAll, InheritNone, InheritCore} {
			got := Filter{Inherit: inherit}.Apply([]string{name + "=vi"})
			if last := slices.Index(got, name+"=false"); last < 0 || last < slices.Index(got, name+"=vi") {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

func TestFilterPolicies(t *testing.T) { // LOOP-36, K-35
	t.Parallel()
	environ := []string{"PATH=/bin", "LC_ALL=C", "SystemDrive=C:", "EDITOR=vi", "GITHUB_TOKEN=t"}
	tests := []struct {
		filter Filter
		want   []string
	}{
		{Filter{}, []string{"PATH=/bin", "LC_ALL=C", "SystemDrive=C:", "EDITOR=vi"}},
		{Filter{Allow: []string{"GITHUB_TOKEN"}}, environ},
		{Filter{Inherit: InheritAll}, environ},
		{Filter{Inherit: InheritCore}, []string{"PATH=/bin", "LC_ALL=C", "SystemDrive=C:"}},
		{Filter{Inherit: InheritNone}, []string{"LANG=C.UTF-8"}},
		{Filter{Inherit: InheritNone, Allow: []string{"EDITOR"}}, []string{"EDITOR=vi", "LANG=C.UTF-8"}},
	}
	for _, tt := range tests {
		want := append(slices.Clone(tt.want), fixed...)
		if got := tt.filter.Apply(environ); !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", tt.filter, got, want)
		}
	}
}

func TestWindowsOwnVariablesAreTakenBack(t *testing.T) {
	t.Parallel()
	if userGDK {
		t.Skip("the user chose a GDK back end")
	}
	for _, filter := range []Filter{{}, {Inherit: InheritAll}} {
		if slices.Contains(filter.Apply([]string{"GDK_BACKEND=x11"}), "GDK_BACKEND=x11") {
			t.Errorf("%+v passes GDK_BACKEND", filter)
		}
	}
}

// Findings about variables are remembered for a limited number.
func TestJudgedVariablesAreLimited(t *testing.T) {
	for i := range 2*mostJudged + 5 {
		if got := isSecret(fmt.Sprintf("API_KEY_%d", i), "x"); !got {
			t.Fatalf("the key %d passes", i)
		}
		if got := isSecret(fmt.Sprintf("PLAIN%d", i), "x"); got {
			t.Fatalf("the variable %d is dropped", i)
		}
	}
	if n := len(judged.entries); n > mostJudged {
		t.Errorf("%d are remembered", n)
	}
}

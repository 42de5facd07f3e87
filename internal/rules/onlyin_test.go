package rules

// onlyIn names the packages that alone may import something from outside.
var onlyIn = map[string][]string{
	"github.com/wailsapp/wails":              {"desktop", "scripts/bench-page/bare"},
	"github.com/godbus/dbus":                 {"desktop"},
	"github.com/mark3labs/mcp-go":            {"agent/mcp", "agent/mcp/serve"},
	"github.com/openai/openai-go":            {"agent/llm/openai"},
	"github.com/anthropics/anthropic-sdk-go": {"agent/llm/anthropic"},
	"github.com/mattn/go-sqlite3":            {"storage", "storage/search", "backend/transcript/opencode"},
	"database/sql":                           {"storage", "storage/search", "backend/transcript/opencode", "storage/sessionlog", "storage/teamwork"},
	"github.com/coder/websocket":             {"backend/serve", "scripts/bench"},
	"github.com/zalando/go-keyring":          {"storage/keystore"},
	"os/exec":                                {"agent/sandbox", "scripts/bench"},
	"github.com/sourcegraph/jsonrpc2":        {"agent/lsp"},
	"github.com/charmbracelet/x/powernap":    {"agent/lsp"},
	"github.com/pelletier/go-toml":           {"backend/mcp"},
	"github.com/robfig/cron":                 {"agent/schedule"},
	"github.com/fsnotify/fsnotify":           {"backend/internal/watch"},
	"github.com/goccy/go-yaml":               {"agent/internal/frontmatter", "agent/project"},
	"github.com/coder/acp-go-sdk":            {"agent/external", "agent/external/externaltest", "backend/acp"},
	"github.com/creack/pty":                  {"agent/sandbox"},
	"github.com/tiktoken-go/tokenizer":       {"agent/llm/tokens"},
	"codeberg.org/readeck/go-readability":    {"agent/fetch"},
	"github.com/JohannesKaufmann":            {"agent/fetch"},
}

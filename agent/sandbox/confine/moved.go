package confine

import (
	"os"
	"path/filepath"
	"strings"
)

// roots are folders of a home that a variable of the user can move elsewhere.
var roots = []struct{ name, variable string }{
	{".config/gcloud", "CLOUDSDK_CONFIG"}, {".config/gh", "GH_CONFIG_DIR"}, {".config", "XDG_CONFIG_HOME"}, {".local/share", "XDG_DATA_HOME"},
	{".cache/huggingface", "HF_HOME"}, {".cache", "XDG_CACHE_HOME"}, {"go", "GOPATH"}, {".cargo", "CARGO_HOME"}, {".rustup", "RUSTUP_HOME"},
	{".gnupg", "GNUPGHOME"}, {".docker", "DOCKER_CONFIG"}, {".azure", "AZURE_CONFIG_DIR"}, {".kube/config", "KUBECONFIG"}, {".npmrc", "NPM_CONFIG_USERCONFIG"},
	{".npmrc", "npm_config_userconfig"}, {".netrc", "NETRC"}, {".pip/pip.conf", "PIP_CONFIG_FILE"}, {".terraformrc", "TF_CLI_CONFIG_FILE"}, {".gradle", "GRADLE_USER_HOME"},
	{".codex", "CODEX_HOME"}, {".claude", "CLAUDE_CONFIG_DIR"}, {".composer", "COMPOSER_HOME"}, {".bundle", "BUNDLE_USER_HOME"}, {".bash_history", "HISTFILE"},
	{".condarc", "CONDARC"}, {".dbt", "DBT_PROFILES_DIR"}, {".databrickscfg", "DATABRICKS_CONFIG_FILE"}, {".kaggle", "KAGGLE_CONFIG_DIR"}, {".sentryclirc", "SENTRY_PROPERTIES"},
	{".pgpass", "PGPASSFILE"}, {".password-store", "PASSWORD_STORE_DIR"}, {".python_history", "PYTHON_HISTORY"}, {".node_repl_history", "NODE_REPL_HISTORY"},
	{".mysql_history", "MYSQL_HISTFILE"}, {".psql_history", "PSQL_HISTORY"}, {".sqlite_history", "SQLITE_HISTORY"}, {".config/sops/age/keys.txt", "SOPS_AGE_KEY_FILE"},
	{".aws/credentials", "AWS_SHARED_CREDENTIALS_FILE"}, {".aws/config", "AWS_CONFIG_FILE"}, {".boto", "BOTO_CONFIG"},
}

// mostMoved limits how many folders a variable may list.
const mostMoved = 16

// moved returns the places to which the user's variables move a file or folder of the home.
// A place that holds the home or the project does not count.
func (at Place) moved(name string) (paths []string) {
	if at.Getenv == nil {
		return nil
	}
	for _, root := range roots {
		rest, ok := strings.CutPrefix(name, root.name)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		all := filepath.SplitList(at.Getenv(root.variable))
		for _, path := range all[:min(len(all), mostMoved)] {
			if at.isApart(path) {
				paths = append(paths, filepath.Join(path, filepath.FromSlash(rest)))
			}
		}
	}
	return paths
}

// isApart reports whether a path may be hidden or covered as a whole.
func (at Place) isApart(path string) bool {
	return filepath.IsAbs(path) && !within(path, at.Project) && (at.Home == "" || !within(path, at.Home)) && !within("/dev", path) && !within("/proc", path)
}

// cachePath returns the user's folder of a cache; empty if it is not known.
func (at Place) cachePath(name, variable string) string {
	if at.Getenv != nil && variable != "" {
		if path := at.Getenv(variable); at.isApart(path) {
			return filepath.Clean(path)
		}
	}
	if moved := at.moved(name); len(moved) > 0 {
		return moved[0]
	}
	if at.Home == "" {
		return ""
	}
	return filepath.Join(at.Home, filepath.FromSlash(name))
}

// authorities match variables that name the certificates to trust, such as AWS_CA_BUNDLE.
// They are public, and without them no connection is made.
var authorities = lazily(`(?i)CA_?(BUNDLE|CERT|FILE|INFO|PATH|ROOT)|ROOT_?(CA|CERT)|ROOTS_FILE|TRUST_?(STORE|ANCHOR)`)

// SecretPaths returns the files, and the folders below a home, to which secret variables such
// as GOOGLE_APPLICATION_CREDENTIALS point. A variable is secret if the program has removed it
// from its own environment.
func SecretPaths(environ []string, home string) (paths []string) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if _, shown := os.LookupEnv(name); shown || authorities().MatchString(name) {
			continue
		}
		for _, path := range filepath.SplitList(value) {
			if !filepath.IsAbs(path) {
				continue
			}
			info, err := os.Stat(path)
			if err == nil && (info.Mode().IsRegular() || info.IsDir() && home != "" && within(home, path)) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// A desktop that shows notices: it owns org.freedesktop.Notifications, prints a
// line for each notice (its id, title and body, separated by tabs), and reads
// what the user does with them: "press ID" or "dismiss ID".
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

static const char name[] = "org.freedesktop.Notifications", path[] = "/org/freedesktop/Notifications";

static const char interface[] =
    "<node><interface name='org.freedesktop.Notifications'>"
    "<method name='Notify'>"
    "<arg type='s' direction='in'/><arg type='u' direction='in'/><arg type='s' direction='in'/>"
    "<arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='as' direction='in'/>"
    "<arg type='a{sv}' direction='in'/><arg type='i' direction='in'/><arg type='u' direction='out'/>"
    "</method>"
    "<method name='CloseNotification'><arg type='u' direction='in'/></method>"
    "</interface></node>";

static void tell(const char *line) {
    puts(line);
    fflush(stdout);
}

static void closed(GDBusConnection *bus, guint id, guint reason) {
    g_dbus_connection_emit_signal(bus, NULL, path, name, "NotificationClosed", g_variant_new("(uu)", id, reason), NULL);
}

static void called(GDBusConnection *bus, const char *sender, const char *object, const char *of, const char *method,
                   GVariant *in, GDBusMethodInvocation *call, gpointer data) {
    static guint last;
    if (strcmp(method, "Notify") != 0) {
        guint id;
        g_variant_get(in, "(u)", &id);
        closed(bus, id, 3);
        g_dbus_method_invocation_return_value(call, NULL);
        return;
    }
    const char *title, *body;
    g_variant_get_child(in, 3, "&s", &title);
    g_variant_get_child(in, 4, "&s", &body);
    char *line = g_strdup_printf("%u\t%s\t%s", ++last, title, body);
    g_dbus_method_invocation_return_value(call, g_variant_new("(u)", last));
    tell(line);
    g_free(line);
}

static const GDBusInterfaceVTable calls = {.method_call = called};

// A desktop closes the notice that was pressed, for the same reason as one that was dismissed.
static gboolean done(GIOChannel *input, GIOCondition condition, gpointer bus) {
    char line[64], act[16];
    guint id;
    if (!fgets(line, sizeof line, stdin)) return G_SOURCE_REMOVE;
    if (sscanf(line, "%15s %u", act, &id) != 2) return G_SOURCE_CONTINUE;
    if (strcmp(act, "press") == 0)
        g_dbus_connection_emit_signal(bus, NULL, path, name, "ActionInvoked", g_variant_new("(us)", id, "default"), NULL);
    closed(bus, id, 2);
    return G_SOURCE_CONTINUE;
}

static void offer(GDBusConnection *bus, const char *owned, gpointer data) {
    GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(interface, NULL);
    g_dbus_connection_register_object(bus, path, node->interfaces[0], &calls, NULL, NULL, NULL);
    g_io_add_watch(g_io_channel_unix_new(0), G_IO_IN | G_IO_HUP, done, bus);
}

static void ready(GDBusConnection *bus, const char *owned, gpointer data) { tell("ready"); }

int main(void) {
    setvbuf(stdin, NULL, _IONBF, 0); // a line that waits in a buffer would wake nobody
    g_bus_own_name(G_BUS_TYPE_SESSION, name, G_BUS_NAME_OWNER_FLAGS_NONE, offer, ready, NULL, NULL, NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}

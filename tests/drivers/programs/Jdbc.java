// What pgjdbc shows of a server, a line for each thing: java -cp postgresql.jar Jdbc.java URL
// DBeaver, Metabase and Tableau stand on this driver, and ask its metadata first.

import java.sql.*;
import java.util.*;
import java.util.concurrent.*;

public class Jdbc {
    static Connection db;

    static void say(String name, Object value) {
        System.out.println(name + ": " + String.valueOf(value).replace("\n", " / "));
    }

    static String rows(ResultSet found, String... columns) throws SQLException {
        List<String> rows = new ArrayList<>();
        while (found.next()) {
            List<String> cells = new ArrayList<>();
            for (String column : columns) cells.add(found.getString(column));
            rows.add(String.join(".", cells));
        }
        return String.join(" ", rows);
    }

    static void refused(String name, Callable<?> step) throws Exception {
        try {
            step.call();
            say(name, "answered");
        } catch (SQLException error) {
            say(name, error.getSQLState() + " " + error.getMessage());
        }
    }

    public static void main(String[] words) throws Exception {
        db = DriverManager.getConnection(words[0]);
        DatabaseMetaData about = db.getMetaData();
        say("product", about.getDatabaseProductName() + " " + about.getDatabaseProductVersion());
        say("catalogs", rows(about.getCatalogs(), "TABLE_CAT"));
        say("schemas", rows(about.getSchemas(), "TABLE_SCHEM"));
        say("tables", rows(about.getTables(null, "public", "%", new String[] {"TABLE"}), "TABLE_NAME"));
        say("columns", rows(about.getColumns(null, null, "patients", "%"), "COLUMN_NAME", "TYPE_NAME"));
        say("keys", rows(about.getPrimaryKeys(null, null, "wards"), "TABLE_NAME", "COLUMN_NAME"));
        say("private keys", rows(about.getPrimaryKeys(null, null, "patients"), "TABLE_NAME", "COLUMN_NAME"));
        say("imported", rows(about.getImportedKeys(null, null, "visits"),
            "FKTABLE_NAME", "FKCOLUMN_NAME", "PKTABLE_NAME", "PKCOLUMN_NAME"));
        say("exported", rows(about.getExportedKeys(null, null, "patients"), "FKTABLE_NAME", "FKCOLUMN_NAME"));
        say("crossed", rows(about.getCrossReference(null, null, "patients", null, null, "visits"), "FKCOLUMN_NAME"));
        say("indices", rows(about.getIndexInfo(null, null, "wards", false, true), "COLUMN_NAME"));
        say("best row", rows(about.getBestRowIdentifier(null, null, "wards", 2, true), "COLUMN_NAME"));
        say("types", rows(about.getTypeInfo(), "TYPE_NAME").contains("int8"));
        say("functions", rows(about.getFunctions(null, null, "nothing%"), "FUNCTION_NAME"));
        say("privileges", rows(about.getTablePrivileges(null, null, "wards"), "PRIVILEGE"));
        say("valid", db.isValid(5));

        // The seventh time is prepared by name, and its values come as bytes.
        PreparedStatement prepared = db.prepareStatement(
            "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients WHERE age >= ? AND town <> ? GROUP BY ward");
        Set<String> answers = new HashSet<>();
        for (int time = 0; time < 7; time++) {
            prepared.setInt(1, 65);
            prepared.setString(2, "nowhere");
            try (ResultSet found = prepared.executeQuery()) {
                SQLWarning price = prepared.getWarnings() == null ? found.getWarnings() : prepared.getWarnings();
                if (time < 2) say("price " + time, price == null ? null : price.getMessage());
                answers.add(rows(found, "ward", "n", "age"));
            }
            prepared.clearWarnings();
        }
        say("different answers", answers.size());
        say("described", prepared.getMetaData().getColumnTypeName(2));

        try (Statement statement = db.createStatement()) {
            ResultSet kinds = statement.executeQuery("SELECT * FROM kinds ORDER BY n");
            kinds.next();
            List<String> cells = new ArrayList<>();
            for (int at = 1; at <= kinds.getMetaData().getColumnCount(); at++) cells.add(kinds.getString(at));
            say("kinds", cells);
        }

        db.setAutoCommit(false);
        try (Statement statement = db.createStatement()) {
            statement.setFetchSize(2); // a portal that is executed in pieces
            say("in pieces", rows(statement.executeQuery("SELECT ward FROM wards ORDER BY ward"), "ward"));
            refused("refused", () -> statement.executeQuery("SELECT SUM(cost / age) FROM visits JOIN patients USING (patient_id)"));
            refused("after it", () -> statement.executeQuery("SELECT 1"));
            db.rollback();
            refused("after rollback", () -> statement.executeQuery("SELECT 1"));
            refused("rows", () -> statement.executeQuery("SELECT * FROM \"public\".\"patients\" LIMIT 200"));
            db.rollback();
            refused("update", () -> statement.executeUpdate("DELETE FROM wards"));
            db.rollback();
        }
        db.setAutoCommit(true);

        try (Statement statement = db.createStatement()) {
            Executors.newSingleThreadScheduledExecutor(step -> {
                Thread thread = new Thread(step);
                thread.setDaemon(true);
                return thread;
            }).scheduleAtFixedRate(() -> {
                try {
                    statement.cancel();
                } catch (SQLException error) {
                    // it is closed
                }
            }, 700, 700, TimeUnit.MILLISECONDS);
            refused("cancelled", () -> statement.executeQuery(
                "SELECT COUNT(*) FROM range(1000000) AS a(i), range(1000000) AS b(i) WHERE a.i * b.i = 7"));
        }
        try (Statement statement = db.createStatement()) {
            say("margins", statement.execute("SET dpsql.margins = columns"));
            ResultSet wide = statement.executeQuery("SELECT COUNT(*) AS n FROM patients WHERE age > 33");
            say("margin", wide.getMetaData().getColumnName(2));
        }
        db.close();
    }
}

# What R shows of a server: Rscript dbplyr.R PORT, with the password in PGPASSWORD.

library(RPostgreSQL)
suppressMessages(library(dplyr))

port <- as.integer(commandArgs(TRUE)[1])
db <- dbConnect(PostgreSQL(), host = "127.0.0.1", port = port, user = "ana", dbname = "clinic",
                password = Sys.getenv("PGPASSWORD"))
cat("tables:", sort(dbListTables(db)), "\n")
cat("fields:", dbListFields(db, "patients"), "\n")
counted <- dbGetQuery(db, "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward")
cat("wards:", counted$ward, "\n")
cat("numbers:", is.numeric(counted$n), all(counted$n > 500), "\n")
first <- dbGetQuery(db, "SELECT day, money, real, yes FROM kinds ORDER BY n")[1, ]
cat("kinds:", sapply(first, as.character), "\n")

lazy <- suppressWarnings(tbl(db, "patients"))
by_ward <- lazy %>% filter(age >= 65) %>% group_by(ward) %>%
    summarise(n = n(), age = mean(age, na.rm = TRUE)) %>% arrange(ward) %>% collect()
cat("dbplyr:", names(by_ward), by_ward$ward, "\n")
joined <- tbl(db, "visits") %>% inner_join(lazy, by = "patient_id") %>%
    summarise(cost = sum(cost, na.rm = TRUE)) %>% collect()
cat("joined:", joined$cost > 0, "\n")
invisible(try(dbGetQuery(db, "SELECT age FROM patients")))
cat("after it:", dbGetQuery(db, "SELECT 7 AS seven")$seven, "\n")
invisible(dbDisconnect(db))

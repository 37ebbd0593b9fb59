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

cat("begun:", dbBegin(db), "\n")
invisible(dbGetQuery(db, "SELECT COUNT(*) AS n FROM patients WHERE age > 71"))
invisible(try(dbGetQuery(db, "SELECT age FROM patients"), silent = TRUE))
aborted <- try(dbGetQuery(db, "SELECT 8 AS eight"))
cat("aborted:", is.null(aborted), dbRollback(db), dbGetQuery(db, "SELECT 9 AS nine")$nine, "\n")
ten <- dbWithTransaction(db, dbGetQuery(db, "SELECT 10 AS ten")$ten)
cat("committed:", ten, dbBegin(db), dbCommit(db), "\n")

slow <- "SELECT COUNT(*) FROM range(1000000) AS a(i), range(1000000) AS b(i) WHERE a.i * b.i = 7"
invisible(dbGetQuery(db, "SET statement_timeout = '300ms'"))
stopped <- try(dbGetQuery(db, slow))
invisible(dbGetQuery(db, "RESET statement_timeout"))
cat("stopped:", is.null(stopped), dbGetQuery(db, "SELECT 11 AS eleven")$eleven, "\n")
cat("leaving: \n")
flush(stdout())
invisible(dbGetQuery(db, slow))  # until the program is killed
